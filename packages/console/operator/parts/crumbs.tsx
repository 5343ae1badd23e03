import { Link } from '../../ui/location.tsx';

interface CrumbsProps {
  readonly parent: { readonly href: string; readonly label: string };
  readonly title: string;
}

/** The heading of a page about one thing, after a link to the list. */
export const Crumbs = ({ parent, title }: CrumbsProps) => (
  <div class="crumbs">
    <Link href={parent.href}>{parent.label}</Link>
    <span aria-hidden="true">/</span>
    <h2>{title}</h2>
  </div>
);
