/** Longest path in characters: the browser keeps it in a cookie of at most 4,096 bytes. */
const lengthMax = 2_500;

/** Paths below `/console` that are not pages. */
const notPages = /^\/console\/(?:sign-in|sign-out|callback|session|connect-api|static)(?:\/|$)/;

/**
 * Whether a path is a page of the console of this service, so that a link cannot send a person who
 * signs in to another site.
 */
export function isReturnPath(path: string): boolean {
  if (path.length > lengthMax || !/^\/console(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/.test(path)) return false;
  const { origin, pathname } = new URL(path, 'https://own.invalid');
  return origin === 'https://own.invalid' && /^\/console(?:\/|$)/.test(pathname) && !notPages.test(pathname);
}
