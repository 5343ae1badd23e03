import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const OverviewPage = () => <EmptyState title={strings.overview.title} />;
