/** The texts of the menu that shares a question. */
export const shareStrings = {
  menu: 'Share',
  copyCurl: 'Copy as curl',
  hint: 'The link has no email address: bookmark it to keep this question. The commands export what the filters select as CSV. curl needs ACCESS_TOKEN.',
} as const;
