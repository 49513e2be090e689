import { t } from '../../messages/messages.svelte.ts';

/** The screens of a company, for its title. */
export function companyTabs(id: string): { href: string; title: string }[] {
  return [
    { href: `/companies/${id}`, title: t('companies.profile') },
    { href: `/companies/${id}/members`, title: t('companies.members') },
  ];
}
