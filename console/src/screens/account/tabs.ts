import { t } from '../../messages/messages.svelte.ts';

/** The pages of the account, for its title. */
export function accountTabs(): { href: string; title: string }[] {
  return [
    { href: '/account', title: t('account.profile') },
    { href: '/account/security', title: t('account.security') },
    { href: '/account/sessions', title: t('account.sessions') },
    { href: '/account/keys', title: t('account.keys') },
    { href: '/account/data', title: t('account.data') },
  ];
}
