import type { DestinationKind } from './destination-kind.ts';
import { stateOption } from './stdout-destination.ts';

export const webhookDestination: DestinationKind = {
  mode: 'webhook',
  form: 'webhook:URL',
  pattern: /^webhook:/,
  keeps: 'messages to an endpoint: that something has changed, or that a subscription ends soon',
  options: [
    stateOption,
    {
      flags: '--secret-file <file>',
      description: 'file of the signing secret, in a second line the former one',
    },
    {
      flags: '--expiring <durations>',
      description: 'tell of subscriptions that end within these, such as 7d,3d,1d',
    },
    {
      flags: '--expiring-all',
      description: 'with --expiring: also of subscriptions that renew automatically',
    },
    {
      flags: '--content-type <type>',
      description: 'the content type of the requests (default: application/json)',
    },
    { flags: '--enable', description: 'deliver again after a response with 410', isOfRun: true },
  ],
  examples: ['--to webhook:https://example.com/hooks --state webhook.db --secret-file webhook.secret --expiring 7d,1d'],
};
