import { SecretDialog } from '../parts/secret-dialog.tsx';
import { strings } from '../strings.ts';
import type { Credentials } from './credentials.ts';
import { HandOver } from './hand-over.tsx';

const { clients: texts } = strings;

interface ClientSecretProps {
  readonly title: string;
  readonly credentials: Credentials;
  readonly onClose: () => void;
}

/** Shows the new secret of a client once, and the files that its owner needs. */
export const ClientSecret = ({ title, credentials, onClose }: ClientSecretProps) => (
  <SecretDialog
    title={title}
    owner={[texts.id, credentials.client_id]}
    what="Client secret"
    secret={credentials.client_secret}
    onClose={onClose}
  >
    <HandOver credentials={credentials} />
  </SecretDialog>
);
