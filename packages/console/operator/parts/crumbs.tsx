import { Link } from '../../ui/location.tsx';
import { usePageTitle } from '../../ui/page-title.ts';

interface CrumbsProps {
  readonly parent: { readonly href: string; readonly label: string };
  readonly title: string;
}

/** The link to the list from the page of one thing, whose name becomes the title of the page. */
export function Crumbs({ parent, title }: CrumbsProps) {
  usePageTitle(title);
  return (
    <p>
      <Link href={parent.href}>{parent.label}</Link>
    </p>
  );
}
