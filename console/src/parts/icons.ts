import activity from 'lucide-static/icons/activity.svg?raw';
import arrowDown from 'lucide-static/icons/arrow-down.svg?raw';
import arrowUp from 'lucide-static/icons/arrow-up.svg?raw';
import building from 'lucide-static/icons/building-2.svg?raw';
import calendar from 'lucide-static/icons/calendar.svg?raw';
import camera from 'lucide-static/icons/camera.svg?raw';
import check from 'lucide-static/icons/check.svg?raw';
import chevronDown from 'lucide-static/icons/chevron-down.svg?raw';
import chevronLeft from 'lucide-static/icons/chevron-left.svg?raw';
import chevronRight from 'lucide-static/icons/chevron-right.svg?raw';
import alert from 'lucide-static/icons/circle-alert.svg?raw';
import user from 'lucide-static/icons/circle-user-round.svg?raw';
import offline from 'lucide-static/icons/cloud-off.svg?raw';
import coins from 'lucide-static/icons/coins.svg?raw';
import columns from 'lucide-static/icons/columns-3.svg?raw';
import download from 'lucide-static/icons/download.svg?raw';
import more from 'lucide-static/icons/ellipsis.svg?raw';
import audit from 'lucide-static/icons/history.svg?raw';
import home from 'lucide-static/icons/house.svg?raw';
import photo from 'lucide-static/icons/image.svg?raw';
import inbox from 'lucide-static/icons/inbox.svg?raw';
import packets from 'lucide-static/icons/layers.svg?raw';
import codes from 'lucide-static/icons/list.svg?raw';
import filter from 'lucide-static/icons/list-filter.svg?raw';
import logout from 'lucide-static/icons/log-out.svg?raw';
import map from 'lucide-static/icons/map.svg?raw';
import pin from 'lucide-static/icons/map-pin.svg?raw';
import menu from 'lucide-static/icons/menu.svg?raw';
import threads from 'lucide-static/icons/message-circle.svg?raw';
import products from 'lucide-static/icons/package.svg?raw';
import plus from 'lucide-static/icons/plus.svg?raw';
import search from 'lucide-static/icons/search.svg?raw';
import settings from 'lucide-static/icons/settings.svg?raw';
import jobs from 'lucide-static/icons/timer.svg?raw';
import users from 'lucide-static/icons/users.svg?raw';
import chains from 'lucide-static/icons/waypoints.svg?raw';
import close from 'lucide-static/icons/x.svg?raw';

/** The icons by name; the build puts those that are named here into the console, and no others. */
export const ICONS: Record<string, string> = {
  ...{
    alert,
    arrowDown,
    arrowUp,
    calendar,
    camera,
    check,
    chevronDown,
    chevronLeft,
    chevronRight,
    close,
    columns,
  },
  ...{
    download,
    filter,
    home,
    inbox,
    jobs,
    logout,
    map,
    menu,
    more,
    offline,
    packets,
    photo,
    pin,
    plus,
    products,
    search,
    settings,
  },
  ...{ audit, chains, codes, threads, users },
  account: user,
  companies: building,
  currency: coins,
  health: activity,
  observation: camera,
};
