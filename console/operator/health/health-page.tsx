import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const HealthPage = () => <EmptyState title={strings.health.title} />;
