import { ApiError } from '../../../client/index.ts';
import { currentPosition, revisionOf, type Source } from './read-source.ts';

/** A report beside a copy of it. */
export interface Lag {
  /** The current revision of the report. */
  readonly revision: number;
  /** Whether nothing has changed since the copy. */
  readonly isInStep: boolean;
  /** Whether the changes since the copy can no longer be read, such as after a restore. */
  readonly isTokenInvalid: boolean;
}

/** Where a copy is; a file has no change token. */
interface Followed {
  readonly revision: number;
  readonly token?: string | undefined;
}

/** Reads what has happened to a report since a copy. Throws an error of the client library. */
export async function readLag({ client }: Source, copy: Followed, signal: AbortSignal): Promise<Lag> {
  const isTokenInvalid = false;
  if (copy.token === undefined) {
    const { revision } = await currentPosition(client, { signal });
    return { revision, isInStep: revision === copy.revision, isTokenInvalid };
  }
  let revision = copy.revision;
  try {
    for await (const page of client.changes(copy.token, { size: 1, signal })) {
      // a process of the service may be a second behind another one
      revision = Math.max(revision, revisionOf(page));
      if (page.changes.length > 0) return { revision, isInStep: false, isTokenInvalid };
    }
    return { revision, isInStep: true, isTokenInvalid };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'RESYNC_REQUIRED') throw error;
    const now = await currentPosition(client, { signal });
    return { revision: now.revision, isInStep: false, isTokenInvalid: true };
  }
}
