/** A text that somebody sent, as an answer may show it: its first characters. */
export const shorten = (text: string, charactersMax = 64): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
