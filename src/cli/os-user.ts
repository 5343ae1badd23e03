import { userInfo } from 'node:os';

/** Returns the name of the current user, or its numeric id if it has no name. */
export function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
