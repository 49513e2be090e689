/** The pages of people who are not logged in, by their paths; every other path has the login then. */
export const ENTRANCES: Readonly<Record<string, 'login' | 'register' | 'reset' | 'resend'>> = {
  '/login': 'login',
  '/register': 'register',
  '/forgotten-password': 'reset',
  '/resend-confirmation': 'resend',
};
