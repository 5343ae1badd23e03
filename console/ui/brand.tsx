/** The product's mark and name, and a word that tells a console from the other. */
export const Brand = ({ word }: { readonly word?: string | undefined }) => (
  <p class="brand">
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <rect x="7.5" y="16" width="4" height="8" rx="1" />
      <rect x="14" y="8" width="4" height="16" rx="1" />
      <rect x="20.5" y="12" width="4" height="12" rx="1" />
    </svg>
    subreport
    {word !== undefined && <span class="brand-word">{word}</span>}
  </p>
);
