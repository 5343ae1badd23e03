/** Truncates a string that a client sent, for use in a response. */
export const shorten = (text: string, charactersMax = 64): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
