const tokenPattern = /^sro_[A-Za-z0-9_-]{43}$/;

/** Whether a token has the length and characters of an operator's token. */
export const isWellFormedOperatorToken = (token: string): boolean => tokenPattern.test(token);
