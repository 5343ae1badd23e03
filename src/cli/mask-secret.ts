/** Removes the credentials of a URL from a rejected value, so that it can be shown. */
export const hidePassword = (value: string): string => value.replace(/\/\/.*@/s, '//***@');

/** Masks a secret: of a URL only its passwords, otherwise all of it. */
export function maskSecret(value: string): string {
  const parsed = URL.parse(value);
  if (parsed === null || !value.includes('://')) return '***';
  if (parsed.password !== '') parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}
