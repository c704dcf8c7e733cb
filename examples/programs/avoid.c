/* Robots that drive and turn away from what is near: avoid.py in C.
 *
 *     cc -O2 -I formiga/link/clients -o avoid examples/programs/avoid.c -lm
 *     formiga run remote --program swarm=./avoid
 */
#include "formiga_remote.h"

int main(int argc, char **argv) {
    struct formiga_robots robots;
    if (formiga_open(&robots, argc, argv)) return 1;
    while (formiga_look(&robots)) {
        size_t beams, wheels;
        double least, top;
        const double *near = (const double *)formiga_find(&robots, "reading", "proximity", &beams);
        double *drive = (double *)formiga_find(&robots, "order", "drive", &wheels);
        if (!near || beams < 6 || !drive || !formiga_channel(&robots, "left", &least, &top)) return 1;
        for (uint32_t i = 0; i < robots.worlds * robots.count; i++, near += beams, drive += wheels) {
            double left = 0.0, right = 0.0;            /* beams: counter-clockwise from ahead */
            for (size_t k = 0; k < 3; k++) {
                left += near[k];
                right += near[beams - 1 - k];
            }
            int clear = left + right < 0.2;
            drive[0] = clear || left >= right ? top : -0.5 * top;
            drive[1] = clear || left < right ? top : -0.5 * top;
        }
        formiga_send(&robots);
    }
    formiga_close(&robots);
    return 0;
}
