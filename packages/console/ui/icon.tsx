import type { IconNode } from './icons.ts';

/** An icon of lucide, as decoration: the word or label beside it names the action. */
export const Icon = ({ icon, size = 16 }: { icon: IconNode; size?: number }) => (
  <svg
    class="icon"
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    {icon.map((line) => (
      <path key={line} d={line} />
    ))}
  </svg>
);
