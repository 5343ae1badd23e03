import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { operations } from '../../../contract/operations.ts';
import { findingsMoment, getSubscriptionFindings } from '../../report/get-subscription-findings.ts';
import { parseNoParameters } from '../../report/parse.ts';
import { findRevision } from '../../storage/tables/tenant-revision.ts';
import { accessOf } from '../listener/access-log.ts';
import { FairQueue, takeTurn } from '../listener/fair-queue.ts';
import { queryOf } from '../listener/operation-routes.ts';
import { liftDeadline } from '../listener/request-deadline.ts';
import { createSlots } from '../listener/slots.ts';
import { acceptJson, type SharedParts } from './report-routes.ts';

/**
 * Time limit of the findings in milliseconds, and of the wait for their turn: a million records
 * take some seconds.
 */
const findingsMsMax = 60_000;

/** Maximum number of tenants whose findings are kept, are being read, or are waiting to be. */
const findingsMax = 100;

/** The findings of a tenant, and the moment that they are of. */
interface KeptFindings {
  readonly moment: number;
  readonly findings: Awaited<ReturnType<typeof getSubscriptionFindings>>;
}

type SendFindings = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Makes the function that sends the findings. They are kept by revision and hour. Two tenants at a
 * time read them, so that most reader threads stay free; others wait in turn, each with one
 * request.
 */
export function createFindingsSender({
  report,
  exports,
  sendTagged,
}: Pick<SharedParts, 'report' | 'exports' | 'sendTagged'>): SendFindings {
  const takeSlot = createSlots({ max: findingsMax, perClientMax: 1, perTenantMax: 1 }, 'scan');
  const queue = new FairQueue({
    runningMax: 2,
    waitingMax: findingsMax,
    waitMsMax: findingsMsMax,
    startsPerTurn: 1,
  });
  const kept = new LRUCache<string, KeptFindings>({ max: findingsMax });
  return (request, reply) => {
    const { clientId, tenant } = accessOf(request);
    const moment = findingsMoment(report.now());
    return sendTagged(request, reply, {
      key: JSON.stringify(['findings', moment]),
      load: async () => {
        const known = kept.get(tenant);
        const revision = known && (await findRevision(report.store.within(request.deadline, request.closed), tenant));
        if (known?.moment === moment && known.findings.revision === revision) return known.findings;
        const release = takeSlot(clientId, tenant);
        try {
          liftDeadline(request); // the queue's and the store's bound it from here on
          request.endTurn?.(); // no other request waits while this one does
          await takeTurn(queue, tenant, request, reply);
          const store = report.store.within(performance.now() + findingsMsMax, request.closed);
          const findings = await getSubscriptionFindings({ store }, tenant, moment, exports.stallMs);
          kept.set(tenant, { moment, findings });
          return findings;
        } finally {
          release();
        }
      },
    });
  };
}

/** Adds `GET /v1/subscription/findings`. */
export function addFindingsRoute(
  app: FastifyInstance,
  { onRequest, preHandler }: SharedParts,
  send: SendFindings,
): void {
  app.route({
    method: 'GET',
    url: operations.getSubscriptionFindings.path,
    onRequest: [onRequest, acceptJson],
    preHandler,
    handler: async (request, reply) => {
      parseNoParameters(queryOf(request));
      return send(request, reply);
    },
  });
}
