import { type GrantType, grantTypes, type Scope, scopes } from '../../../contract/oauth/grant.ts';
import { CheckboxGroup } from '../parts/checkbox-group.tsx';
import { strings } from '../strings.ts';

interface ChoiceProps<T> {
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

const { clients: texts } = strings;

/** The grants that a client may use. */
export const GrantChoice = (choice: ChoiceProps<GrantType>) => (
  <CheckboxGroup legend={texts.grants} options={grantTypes.map((value) => ({ value, label: value }))} {...choice} />
);

/** The scopes that a client may have. */
export const ScopeChoice = (choice: ChoiceProps<Scope>) => (
  <CheckboxGroup
    legend={strings.scopes}
    options={scopes.map((value) => ({ value, label: texts.scopeWords[value] }))}
    {...choice}
  />
);
