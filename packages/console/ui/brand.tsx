/** The product's logo and name, and the name of the console. */
export const Brand = ({ word }: { readonly word?: string | undefined }) => (
  <p class="brand row">
    <svg class="brand-mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <rect x="4" y="13" width="4" height="6" />
      <rect x="10" y="5" width="4" height="14" />
      <rect x="16" y="9" width="4" height="10" />
    </svg>
    subreport
    {word !== undefined && <span class="brand-word small">{word}</span>}
  </p>
);
