import { createHash } from 'node:crypto';
import { finished, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExportSummary, exportTrailers, writeSummaryLine } from '../../contract/export-summary.ts';
import type { ReportExport } from '../../report/export-subscriptions.ts';
import type { ExportLimits } from '../listener/slots.ts';

/** An export to send. */
interface ExportSending {
  readonly report: ReportExport;
  readonly limits: ExportLimits;
  /** Called once, however the export ends. */
  readonly onEnd: () => void;
}

/**
 * Streams a whole report as fast as its reader takes it. When all of it is there, the trailer
 * fields and for NDJSON a last line say how many records it has and their SHA-256. Whatever ends it
 * before breaks the connection, so that a part is never taken for the whole. `onEnd` is called
 * once, however it ends.
 */
export function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  { report, limits, onEnd }: ExportSending,
): FastifyReply {
  const progress = { rows: 0, bytes: 0, summary: undefined as ExportSummary | undefined };
  const stream = Readable.from(pieces(), { objectMode: false });
  // The answer is broken off rather than the stream, which would wait for a store that never
  // answers.
  const cut = (rule: string): void => {
    request.log.warn(`Cannot go on with an export: ${rule}`);
    reply.raw.destroy();
  };
  const cutAfter = (ms: number, rule: string): NodeJS.Timeout => setTimeout(() => cut(`${rule} within ${ms} ms`), ms);
  const isTooSlow = createRateCheck(limits);
  const stall = cutAfter(limits.stallMs, 'its reader must take the next piece');
  const duration = cutAfter(limits.durationMs, 'it must end');
  finished(reply.raw, () => {
    clearTimeout(stall);
    clearTimeout(duration);
    const { rows, bytes, summary } = progress;
    request.log.info({ rows, bytes, complete: summary !== undefined }, 'export');
    void letGo();
  });

  let ended: Promise<void> | undefined;
  const letGo = (): Promise<void> => {
    ended ??= report
      .close()
      .catch((error: unknown) => request.log.warn({ err: error }, 'an export did not end as it should'))
      .finally(onEnd);
    return ended;
  };

  async function* pieces(): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for await (const { text, rows } of report.pieces) {
      const piece = Buffer.from(text);
      hash.update(piece);
      progress.rows += rows;
      progress.bytes += piece.length;
      stall.refresh();
      const yielded = performance.now();
      if (piece.length > 0) yield piece;
      stall.refresh();
      if (isTooSlow(piece.length, performance.now() - yielded))
        return cut(`its reader must take ${limits.rateMin} bytes a second`);
      // pieces that are there already would follow each other for as long as the reader keeps up
      await nextTurn();
    }
    await letGo(); // before the end is told: whoever has read it may begin another
    const summary = { rows: progress.rows, sha256: hash.digest('hex') };
    progress.summary = summary;
    reply.raw.addTrailers({ [exportTrailers.rows]: String(summary.rows), [exportTrailers.sha256]: summary.sha256 });
    if (report.format === 'ndjson') yield Buffer.from(writeSummaryLine(summary));
  }

  // Not by the framework, which writes the names in this header without commas (RFC 9110 §6.6.2 has
  // a list). Before HTTP/1.1 there are none.
  if (request.raw.httpVersion === '1.1') reply.header('trailer', Object.values(exportTrailers).join(', '));
  return reply.send(stream);
}

/**
 * Makes the function that is told of each piece and how long its reader took to ask for more, and
 * tells whether the reader is too slow on the whole.
 */
function createRateCheck({ rateMin, stallMs }: ExportLimits): (bytes: number, readerMs: number) => boolean {
  const taken = { bytes: 0, ms: 0 };
  return (bytes, readerMs) => {
    taken.bytes += bytes;
    taken.ms += readerMs;
    return taken.ms > stallMs && taken.bytes < (rateMin * taken.ms) / 1000;
  };
}
