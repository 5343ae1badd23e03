import { TextField } from '../../ui/field.tsx';
import { SignInForm, SignInPlace } from '../../ui/sign-in-form.tsx';
import { strings } from '../strings.ts';
import { type OperatorSession, session } from './session.ts';

const text = strings.session;

/** Sign-in with the token of an operator. */
export function SignInPage({ expired }: { readonly expired?: OperatorSession }) {
  const isOver = expired !== undefined;
  return (
    <SignInPlace
      title={isOver ? 'Your session has ended' : text.title}
      text={isOver ? text.expired(expired.operator.name) : 'For the operator of this service.'}
      word={strings.word}
      isOver={isOver}
    >
      <SignInForm submit={text.signIn} onSubmit={(fields) => session.signIn({ token: fields.get('token') })}>
        <TextField
          label={text.token}
          hint="Begins with sro_"
          name="token"
          type="password"
          required
          autocomplete="current-password"
        />
      </SignInForm>
    </SignInPlace>
  );
}
