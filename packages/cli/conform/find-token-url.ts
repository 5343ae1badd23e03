import { systemClock } from '../../client/clock.ts';
import { tokenUrlsOf } from '../../client/discover.ts';
import { SubreportError } from '../../client/error.ts';
import { requireSecureUrl, Sender } from '../../client/sender.ts';
import { serviceUrlOf } from '../../contract/report.ts';
import { outgoingFetch } from '../../terminal/outgoing/fetch.ts';
import { ConformError } from './requester.ts';

/** The URLs of a server that the user named. */
interface GivenUrls {
  readonly baseUrl: string;
  readonly tokenUrl?: string | undefined;
  readonly allowHttp?: boolean | undefined;
}

/**
 * The token endpoint: the given one, or that of the metadata of the server. Throws `ConformError`
 * if there is none, or if a URL would send the secret unencrypted to another machine.
 */
export async function findTokenUrl({ baseUrl, tokenUrl, allowHttp }: GivenUrls): Promise<string> {
  try {
    for (const url of [baseUrl, ...(tokenUrl === undefined ? [] : [tokenUrl])]) requireSecureUrl(url, allowHttp);
    if (tokenUrl !== undefined) return tokenUrl;
    const sender = new Sender({ allowHttp, attempts: 1, fetch: outgoingFetch }, systemClock);
    return (await tokenUrlsOf({ issuer: serviceUrlOf(baseUrl) }, sender)).tokenUrl;
  } catch (error) {
    if (error instanceof TypeError) throw new ConformError(error.message);
    if (!(error instanceof SubreportError)) throw error;
    throw new ConformError(
      `Cannot find the token endpoint: --token-url must be given unless the server has metadata of it: ${error.message}`,
    );
  }
}
