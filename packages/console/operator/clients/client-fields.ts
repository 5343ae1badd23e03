import { strings } from '../strings.ts';

const { clients: texts } = strings;

export const nameField = { label: texts.name, hint: texts.nameHint };

/** What a client of this service may do; an external one has only a name. */
export const scopeFields = {
  grants: { label: texts.grants },
  scopes: { label: strings.scopes, words: texts.scopeWords },
};
