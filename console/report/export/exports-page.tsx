import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const ExportsPage = () => <EmptyState title={strings.export.title} />;
