import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const ImportsPage = () => <EmptyState title={strings.imports.title} />;
