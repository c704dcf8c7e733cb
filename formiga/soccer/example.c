/* A whole team in C: one robot keeps the goal, the others run at the ball.
 *
 *     cc -O2 -o ants example.c -lm
 *     formiga match ./ants chaser
 */
#include "memory.h"

/* Angle to turn to the left, -pi to pi. */
static double turn(double from, double to) { return remainder(to - from, 2.0 * M_PI); }

/* Drive a robot to a point: forwards or backwards, whichever is nearer, and slower while it turns. */
static void go(struct formiga_team *team, int robot, double x, double y, double fastest) {
    const double *me = team->sight.robots[team->colour][robot];
    double dx = x - me[0], dy = y - me[1], away = hypot(dx, dy), error = turn(me[2], atan2(dy, dx)), way = 1.0;
    if (fabs(error) > M_PI / 2.0) {
        error = turn(M_PI, error);                             /* the same line, seen from the tail */
        way = -1.0;
    }
    team->orders.speeds[robot][0] = way * fmin(fastest, 3.0 * away) * fmax(cos(error), 0.0);
    team->orders.speeds[robot][1] = away > 0.01 ? 8.0 * error : 0.0;
}

int main(int argc, char **argv) {
    struct formiga_team team;
    if (formiga_open(&team, argc, argv)) return 1;
    while (formiga_look(&team)) {
        const struct formiga_sight *see = &team.sight;
        const double *ball = see->ball;
        double attack = see->blue_attacks * (team.colour ? -1.0 : 1.0);   /* 1: our goal is on the left */
        double line = -attack * (see->length / 2.0 - 0.06), post = see->goal_width / 2.0 - 0.02;

        go(&team, 0, line, fmin(post, fmax(-post, ball[1])), 1.0);        /* the goalkeeper */
        for (int i = 1; i < team.players; i++) {
            const double *me = see->robots[team.colour][i];
            int behind = (ball[0] - me[0]) * attack > 0.04;               /* between the ball and our goal */
            double aside = ball[1] > 0.0 ? -0.15 : 0.15;
            if (behind) go(&team, i, ball[0] + 0.1 * attack, ball[1], 1.2);
            else go(&team, i, ball[0] - (0.10 + 0.12 * i) * attack, ball[1] + aside, 1.0);
        }
        formiga_answer(&team);
    }
    return 0;
}
