/* The two memories between a team and the field, for programs in C and C++. The same as memory.py; docs/tutorials/soccer-teams.md has
 * the table. Nothing to link: everything is here.
 *
 *     struct formiga_team team;
 *     if (formiga_open(&team, argc, argv)) return 1;        --memory SIGHT ORDERS --colour blue
 *     while (formiga_look(&team)) {                          waits for the next picture
 *         team.orders.speeds[0][0] = 0.5;                    m/s
 *         team.orders.speeds[0][1] = 1.0;                    rad/s, counter-clockwise
 *         formiga_answer(&team);
 *     }
 */
#ifndef FORMIGA_MEMORY_H
#define FORMIGA_MEMORY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#define FORMIGA_VERSION 1
#define FORMIGA_SIGHT 1
#define FORMIGA_ORDERS 2
#define FORMIGA_MOST 11                                       /* robots in a team, in the layout */

enum formiga_foul { FORMIGA_FREE_KICK, FORMIGA_PENALTY_KICK, FORMIGA_GOAL_KICK, FORMIGA_FREE_BALL, FORMIGA_KICKOFF,
                    FORMIGA_STOP, FORMIGA_GAME_ON, FORMIGA_HALT };

struct formiga_head {
    char magic[8];                                            /* FORMIGA and a zero */
    uint32_t version, kind, size;
    uint32_t sequence;                                        /* odd while it is being written */
    uint32_t players;                                         /* in each team */
    uint32_t state;                                           /* sight: 0 when the team may go; orders: 1 once opened */
    int64_t frame;                                            /* of the picture, or of the picture answered; -1: none yet */
    double time;                                              /* s, when that picture was taken */
};

struct formiga_sight {                                        /* memory 1 */
    struct formiga_head head;
    double length, width, goal_width, goal_depth, corner, circle, area_width, area_depth, penalty_spot;   /* m */
    double side, wheel_base, top_speed, ball_radius, period;  /* m, m, m/s at the rim, m, s */
    int32_t blue_attacks;                                     /* 1: to the right (+x), -1: to the left */
    int32_t half, score[2];                                   /* score: blue, yellow */
    double clock;                                             /* s played in this half */
    int32_t call, foul, call_team, quadrant, call_half, spare; /* the referee's last call: its number, and what it was */
    double call_time;
    double ball[4];                                           /* x y vx vy */
    double robots[2][FORMIGA_MOST][6];                        /* blue, yellow: x y heading vx vy spin */
    uint8_t present[2][FORMIGA_MOST];                         /* 0: switched off, or not seen */
    uint8_t spare2[2];
};

struct formiga_orders {                                       /* memory 2 */
    struct formiga_head head;
    double speeds[FORMIGA_MOST][2];                           /* v (m/s), omega (rad/s) */
    int32_t placed_for, spare;                                /* number of the call that the places answer; -1: none */
    double places[FORMIGA_MOST][3];                           /* x y heading wanted after a call; NaN: left open */
};

#ifdef __cplusplus
#define FORMIGA_CHECK(what) static_assert(what, #what)
#else
#define FORMIGA_CHECK(what) _Static_assert(what, #what)
#endif
FORMIGA_CHECK(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
FORMIGA_CHECK(sizeof(struct formiga_head) == 48);
FORMIGA_CHECK(offsetof(struct formiga_head, sequence) == 20);
FORMIGA_CHECK(offsetof(struct formiga_head, frame) == 32);
FORMIGA_CHECK(offsetof(struct formiga_sight, blue_attacks) == 160);
FORMIGA_CHECK(offsetof(struct formiga_sight, call) == 184);
FORMIGA_CHECK(offsetof(struct formiga_sight, ball) == 216);
FORMIGA_CHECK(offsetof(struct formiga_sight, robots) == 248);
FORMIGA_CHECK(offsetof(struct formiga_sight, present) == 1304);
FORMIGA_CHECK(sizeof(struct formiga_sight) == 1328);
FORMIGA_CHECK(offsetof(struct formiga_orders, speeds) == 48);
FORMIGA_CHECK(offsetof(struct formiga_orders, places) == 232);
FORMIGA_CHECK(sizeof(struct formiga_orders) == 496);

/* A team: private copies of both memories, and where they are mapped. */
struct formiga_team {
    struct formiga_sight sight;                               /* what was seen last */
    struct formiga_orders orders;                             /* what will be answered */
    int colour;                                               /* 0 blue, 1 yellow: the first index of robots */
    int players;
    int new_call;                                             /* the referee has called since the last picture */
    const struct formiga_sight *from;
    struct formiga_orders *to;
};

static inline void *formiga_map(const char *path, uint32_t kind, size_t size, int writable) {
    int file = open(path, writable ? O_RDWR : O_RDONLY);
    struct stat about;
    if (file < 0 || fstat(file, &about) || (size_t)about.st_size < size) {
        fprintf(stderr, "%s: cannot be opened as a memory of formiga\n", path);
        if (file >= 0) close(file);
        return NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "%s: cannot be mapped\n", path);
        return NULL;
    }
    const struct formiga_head *head = (const struct formiga_head *)memory;
    if (memcmp(head->magic, "FORMIGA", 8) || head->version != FORMIGA_VERSION || head->kind != kind || head->size != size) {
        fprintf(stderr, "%s: no memory of formiga of kind %u and version %d\n", path, (unsigned)kind, FORMIGA_VERSION);
        munmap(memory, size);
        return NULL;
    }
    return memory;
}

/* Sleep until the sequence is no longer `seen`, 2 ms at most: a writer that wakes no readers is found too. */
static inline void formiga_wait(const uint32_t *sequence, uint32_t seen) {
    struct timespec span = {0, 2000000};
#ifdef __linux__
    syscall(SYS_futex, sequence, FUTEX_WAIT, seen, &span, NULL, 0);
#else
    if (__atomic_load_n(sequence, __ATOMIC_ACQUIRE) == seen) nanosleep(&span, NULL);
#endif
}

/* Put the orders into memory 2 and wake a simulator that waits for them. */
static inline void formiga_answer(struct formiga_team *team) {
    uint32_t *sequence = &team->to->head.sequence, number = __atomic_load_n(sequence, __ATOMIC_RELAXED) | 1u;
    const size_t body = offsetof(struct formiga_head, players);
    team->orders.head.players = (uint32_t)team->players;
    team->orders.head.state = 1;
    team->orders.head.frame = team->sight.head.frame;
    team->orders.head.time = team->sight.head.time;
    __atomic_store_n(sequence, number, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy((char *)team->to + body, (const char *)&team->orders + body, sizeof team->orders - body);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(sequence, number + 1u, __ATOMIC_RELEASE);
#ifdef __linux__
    syscall(SYS_futex, sequence, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
#endif
}

/* Wait for the next picture and copy it; 0 when the game is over. */
static inline int formiga_look(struct formiga_team *team) {
    const int64_t last = team->sight.head.frame;
    const int32_t call = team->sight.call;
    for (;;) {
        const uint32_t *sequence = &team->from->head.sequence;
        uint32_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
        if (!(before & 1u)) {
            memcpy(&team->sight, team->from, sizeof team->sight);
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
            if (__atomic_load_n(sequence, __ATOMIC_RELAXED) == before) {
                if (!team->sight.head.state) return 0;
                if (team->sight.head.frame >= 0 && team->sight.head.frame != last) {
                    team->new_call = last < 0 || team->sight.call != call;
                    if (team->new_call) {
                        team->orders.placed_for = -1;
                        for (int i = 0; i < FORMIGA_MOST; i++)
                            for (int k = 0; k < 3; k++) team->orders.places[i][k] = NAN;
                    }
                    return 1;
                }
            } else continue;                                  /* torn: it was written meanwhile */
        }
        formiga_wait(sequence, before);
    }
}

/* Open both memories from the program's arguments; 0, or 1 after a message. */
static inline int formiga_open(struct formiga_team *team, int argc, char **argv) {
    const char *sight = NULL, *orders = NULL, *colour = "";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--memory") && i + 2 < argc) { sight = argv[i + 1]; orders = argv[i + 2]; i += 2; }
        else if (!strcmp(argv[i], "--colour") && i + 1 < argc) colour = argv[++i];
    }
    memset(team, 0, sizeof *team);
    team->colour = !strcmp(colour, "yellow");
    if (!sight || (strcmp(colour, "blue") && strcmp(colour, "yellow"))) {
        fprintf(stderr, "use: %s --memory SIGHT ORDERS --colour blue|yellow\n", argc ? argv[0] : "team");
        return 1;
    }
    team->from = (const struct formiga_sight *)formiga_map(sight, FORMIGA_SIGHT, sizeof(struct formiga_sight), 0);
    team->to = (struct formiga_orders *)formiga_map(orders, FORMIGA_ORDERS, sizeof(struct formiga_orders), 1);
    if (!team->from || !team->to) return 1;
    team->players = (int)team->from->head.players;
    if (team->players > FORMIGA_MOST) team->players = FORMIGA_MOST;
    team->sight.head.frame = -1;
    team->orders.placed_for = -1;
    formiga_answer(team);                                     /* says: I am here */
    return 0;
}

#endif
