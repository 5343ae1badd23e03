import type { FastifyInstance } from 'fastify';

/**
 * Warns once if a request has `X-Forwarded-For` from a peer that is not in `TRUSTED_PROXIES`: if
 * that is our proxy, all its clients share one budget of failed attempts, and one address in the
 * log.
 */
export function addForwardedWarning(app: FastifyInstance): void {
  let warned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    done();
    if (warned || request.headers['x-forwarded-for'] === undefined) return;
    const peer = request.socket.remoteAddress;
    if (request.ip !== peer) return;
    warned = true;
    request.log.warn(
      { peer },
      'X-Forwarded-For is ignored: its sender must be one of TRUSTED_PROXIES; if it is your proxy, add its address, because otherwise all its clients count as one address',
    );
  });
}
