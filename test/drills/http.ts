import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Drill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import type { Stage } from './stage.ts';

const serve = async (stage: Stage, environment: Record<string, string> = {}): Promise<DrilledService> => {
  const service = await stage.serve(await stage.sqlite(), { environment });
  await service.logIn();
  return service;
};

const connections = 200;

/** Opens connections that each send the start of a request and then nothing. */
async function stall(service: DrilledService, start: string): Promise<Socket[]> {
  const sockets = Array.from({ length: connections }, () => service.connect());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(start);
  return sockets;
}

/** Sends reports while connections are stalled, until the service has closed all of them. */
async function outlast(service: DrilledService, stalled: readonly Socket[]): Promise<string> {
  const closing = Promise.all(stalled.map((socket) => once(socket.resume(), 'close'))).then(() => 'closed');
  const statuses = new Set<string>();
  let end: string | undefined;
  while (end === undefined) {
    statuses.add(await service.report());
    end = await Promise.race([closing, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))]);
  }
  return `other requests: ${[...statuses]}; stalled connections closed: ${stalled.length}`;
}

export const httpDrills: readonly Drill[] = [
  {
    name: 'slow-headers',
    fault: `slowloris: ${connections} connections send half of their headers`,
    expected: `other requests: 200; stalled connections closed: ${connections}`,
    async run(stage) {
      const service = await serve(stage);
      return outlast(service, await stall(service, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: '));
    },
  },
  {
    name: 'slow-body',
    fault: `${connections} token requests send half of their body`,
    expected: `other requests: 200; stalled connections closed: ${connections}`,
    async run(stage) {
      const service = await serve(stage);
      const head = 'POST /oauth2/token HTTP/1.1\r\nHost: localhost\r\n';
      const type = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n';
      return outlast(service, await stall(service, `${head}${type}grant_type=`));
    },
  },
  {
    name: 'idle-connections',
    fault: '3,000 idle connections: 1,500 from one address, 1,500 from another',
    expected: 'connections open: 3000; a report 200; /healthz 200',
    isShort: true,
    needs: ['Linux'],
    async run(stage) {
      const service = await serve(stage);
      const sockets = Array.from({ length: 3_000 }, (_, n) => service.connect(n % 2 === 0 ? '127.0.0.2' : '127.0.0.3'));
      stage.defer(() => sockets.map((socket) => socket.destroy()));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const [report, health] = [await service.report(), await service.status('/healthz')];
      const open = sockets.filter((socket) => socket.readyState === 'open').length;
      return `connections open: ${open}; a report ${report}; /healthz ${health}`;
    },
  },
];
