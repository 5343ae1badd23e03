import { type Operation, operations } from '../../contract/operations.ts';
import { operatorOperations } from '../../contract/operator-operations.ts';

/** A resource that `/` names. */
export interface HomeLink {
  /** Its member in the JSON. */
  readonly name: string;
  readonly label: string;
  readonly path: string;
  /** Method of an operation that needs credentials, so a browser cannot follow a link to it. */
  readonly method?: string;
}

const webConsole: HomeLink = { name: 'console', label: 'Console', path: '/console' };
const docs: HomeLink = { name: 'docs', label: 'API reference', path: '/docs' };
const page = (name: string, { summary, path }: Operation): HomeLink => ({ name, label: summary, path });
const request = (name: string, operation: Operation): HomeLink => ({
  ...page(name, operation),
  method: operation.method,
});
const openapi = page('openapi', operations.getOpenapi);
const checks = [page('health', operations.getHealth), page('readiness', operations.getReadiness)];

/** The resources of the public listener. */
export const publicLinks = (hasConsole: boolean): readonly HomeLink[] => [
  ...(hasConsole ? [webConsole] : []),
  docs,
  openapi,
  page('metadata', operations.getAuthorizationServerMetadata),
  request('token', operations.issueToken),
  request('report', operations.listSubscriptions),
  ...checks,
];

/** The resources of the management listener. */
export const operatorLinks = (hasConsole: boolean): readonly HomeLink[] => [
  ...(hasConsole ? [webConsole] : []),
  docs,
  openapi,
  request('load', operatorOperations.loadSubscriptions),
  page('metrics', operatorOperations.getMetrics),
  ...checks,
];
