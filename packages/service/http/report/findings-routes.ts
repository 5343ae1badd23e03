import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { operations } from '../../../contract/operations.ts';
import { findingsMoment, getSubscriptionFindings } from '../../report/get-subscription-findings.ts';
import type { TimedReport } from '../../report/list-subscriptions.ts';
import { parseNoParameters } from '../../report/parse.ts';
import { findRevision } from '../../storage/tables/tenant-revision.ts';
import { accessOf } from '../listener/access-log.ts';
import { FairQueue, takeTurn } from '../listener/fair-queue.ts';
import { queryOf } from '../listener/operation-routes.ts';
import { liftDeadline, whileConnected } from '../listener/request-deadline.ts';
import { createSlots } from '../listener/slots.ts';
import { acceptJson, type SharedParts } from './report-routes.ts';

/**
 * Time limit of the findings in milliseconds, and of the wait for their turn: a million records
 * take some seconds.
 */
const findingsMsMax = 60_000;

/** Maximum number of tenants whose findings are kept, are being read, or are waiting to be. */
const findingsMax = 100;

/** Maximum bytes of the kept findings: a tenant's are a few kB, and 300 kB with the longest ids. */
const keptBytesMax = 4 * 2 ** 20;

type SendFindings = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Makes the function that sends the findings. They are kept by revision and hour. Two tenants at a
 * time read them, so that most reader threads stay free; others wait in turn, each with one
 * request.
 */
export function createFindingsSender({ report, exports, sendTagged }: SharedParts): SendFindings {
  const takeSlot = createSlots({ max: findingsMax, perClientMax: 1, perTenantMax: 1 }, 'scan');
  const queue = new FairQueue({
    runningMax: 2,
    waitingMax: findingsMax,
    waitMsMax: findingsMsMax,
    startsPerTurn: 1,
  });
  const kept = new LRUCache<string, TimedReport>({
    max: findingsMax,
    maxSize: keptBytesMax,
    sizeCalculation: ({ body }) => Buffer.byteLength(body),
  });
  return (request, reply) => {
    const { clientId, tenant } = accessOf(request);
    const moment = findingsMoment(report.now());
    return sendTagged(request, reply, {
      key: JSON.stringify(['findings', moment]),
      load: async () => {
        const keptKey = `${moment} ${tenant}`;
        const known = kept.get(keptKey);
        const revision = known && (await findRevision(whileConnected(report, request).store, tenant));
        if (known !== undefined && known.revision === revision) return known;
        const release = takeSlot(clientId, tenant);
        try {
          liftDeadline(request); // the queue's and the store's bound it from here on
          request.endTurn?.(); // no other request waits while this one does
          await takeTurn(queue, tenant, request, reply);
          const store = report.store.within(performance.now() + findingsMsMax, request.closed);
          const findings = await getSubscriptionFindings({ store }, tenant, moment, exports.stallMs);
          kept.set(keptKey, { ...findings, timings: [] }); // of this read alone
          return findings;
        } finally {
          release();
        }
      },
    });
  };
}

/** Adds `GET /v1/subscription/findings`. */
export function addFindingsRoute(app: FastifyInstance, send: SendFindings): void {
  app.get(operations.getSubscriptionFindings.path, { onRequest: acceptJson }, async (request, reply) => {
    parseNoParameters(queryOf(request));
    return send(request, reply);
  });
}
