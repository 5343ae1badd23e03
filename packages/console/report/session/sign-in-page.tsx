import { TextField } from '../../ui/field.tsx';
import { currentLocation, hrefOf } from '../../ui/location.tsx';
import type { SignInWay } from '../../ui/session.ts';
import { SignInForm, SignInPlace } from '../../ui/sign-in-form.tsx';
import { type ReportSession, session } from './session.ts';
import { sessionStrings } from './session-strings.ts';

const text = sessionStrings;

interface SignInPageProps {
  readonly ways: readonly SignInWay[];
  /** The session that ended while its page was open. */
  readonly expired?: ReportSession;
}

/** Sign-in with the credentials of a client, or at the identity provider. */
export function SignInPage({ ways, expired }: SignInPageProps) {
  const isOver = expired !== undefined;
  return (
    <SignInPlace
      title={isOver ? 'Your session has ended' : text.title}
      text={isOver ? text.expired(expired.name ?? expired.client_id) : 'See the subscriptions of your account.'}
      isOver={isOver}
    >
      {ways.includes('provider') && <ProviderSignIn />}
      {ways.length === 2 && <p class="sign-in-or soft">or</p>}
      {ways.includes('secret') && (
        <SignInForm
          submit={text.signIn}
          onSubmit={(fields) =>
            session.signIn({ client_id: fields.get('client_id'), client_secret: fields.get('client_secret') })
          }
        >
          <TextField
            label="Client id"
            name="client_id"
            required
            autocomplete="username"
            spellcheck={false}
            autocapitalize="none"
            defaultValue={expired?.client_id ?? ''}
          />
          <TextField
            label="Client secret"
            name="client_secret"
            type="password"
            required
            autocomplete="current-password"
            autofocus={isOver}
          />
        </SignInForm>
      )}
      {ways.length === 0 && <p>Sign-in is not set up. Ask the operator of this service.</p>}
    </SignInPlace>
  );
}

/** Sign-in at the identity provider, which returns to this page; and sign-out there. */
function ProviderSignIn() {
  const { path, query } = currentLocation.value;
  return (
    <>
      <a class="button primary" href={`/console/sign-in?${new URLSearchParams({ return_to: hrefOf(path, query) })}`}>
        Sign in with your organization
      </a>
      <a class="button quiet" href="/console/sign-out">
        Use another account
      </a>
    </>
  );
}
