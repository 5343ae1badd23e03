import { Button } from '../../ui/button.tsx';
import { CopyButton, copyText } from '../../ui/copy-button.tsx';
import { Copy, Download } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { strings as uiStrings } from '../../ui/strings.ts';
import { session } from '../session/session.ts';
import { strings } from '../strings.ts';
import { type Credentials, credentialsFile, environmentFile, loginCommand } from './credentials.ts';

const { handOver: texts } = strings.clients;

/** The credentials of a client in the forms in which its owner needs them. */
export function HandOver({ credentials }: { credentials: Credentials }) {
  const state = session.state.value;
  const url = 'session' in state ? state.session.public_url : '';
  const { client_id: id, client_secret: secret } = credentials;
  const copyBoth = async (): Promise<void> => {
    const done = await copyText(texts.both(id, secret, `${url}/console`));
    announce(done ? uiStrings.copied : uiStrings.notCopied);
  };
  return (
    <div class="stack">
      <div class="row gap-3">
        <Button icon={Copy} onClick={() => void copyBoth()}>
          Copy both
        </Button>
        <Button icon={Download} onClick={() => saveFile(`${id}.env`, 'text/plain', environmentFile(url, credentials))}>
          .env file
        </Button>
        <Button
          icon={Download}
          onClick={() => saveFile(`${id}.json`, 'application/json', credentialsFile(url, credentials))}
        >
          JSON file
        </Button>
      </div>
      <Line label="In a terminal" text={loginCommand(url, id)} />
      <Line label="Console" text={`${url}/console`} />
    </div>
  );
}

const Line = ({ label, text }: { label: string; text: string }) => (
  <div class="secret-owner">
    <span>
      <span class="soft">{label}</span>{' '}
      <code>
        {/* a line ends before an option, and not within it */}
        {text.split(/ (?=--)/).map((part) => [' ', <span key={part}>{part}</span>])}
      </code>
    </span>
    <CopyButton text={text} what={label.toLowerCase()} />
  </div>
);
