/** The path of the pages of SIMs; that of one has its ICCID at the end. */
export const simPath = '/console/sims';

/** The page of a SIM. */
export const simHref = (iccid: string): string => `${simPath}/${encodeURIComponent(iccid)}`;
