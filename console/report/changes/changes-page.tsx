import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const ChangesPage = () => <EmptyState title={strings.changes.title} />;
