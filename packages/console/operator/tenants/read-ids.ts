/** Reads ids that are separated by spaces, commas or new lines; each one once. */
export const readIds = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))];
