import { strings } from '../strings.ts';

const { clients: texts } = strings;

export const nameField = { label: 'Name', hint: 'What people call it, such as Finance, Acme' };

/** What a client of this service may do; an external one has only a name. */
export const scopeFields = {
  grants: { label: texts.grants },
  scopes: { label: strings.scopes, words: texts.scopeWords },
};
