/* Drive robots of formiga from a program of your own, in C or C++. One file and nothing to link: copy it beside your program.
 * formiga_remote.py is the same in Python; docs/reference/remote.md has the bytes. What it has in common with
 * formiga/soccer/memory.h, mapping and waking, is in both, so that each is one file.
 *
 *     struct formiga_robots robots;
 *     if (formiga_open(&robots, argc, argv)) return 1;        --memory QUESTION ANSWER, or --udp HOST:PORT
 *     while (formiga_look(&robots)) {                         once in each control period, until the run is over
 *         size_t beams, wheels;
 *         const double *near = formiga_find(&robots, "reading", "proximity", &beams);
 *         double *drive = formiga_find(&robots, "order", "drive", &wheels);
 *         for (uint32_t i = 0; i < robots.worlds * robots.count; i++) drive[wheels * i] = 0.05 * (1.0 - near[beams * i]);
 *         formiga_send(&robots);
 *     }
 *     formiga_close(&robots);
 */
#ifndef FORMIGA_REMOTE_H
#define FORMIGA_REMOTE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

enum { FORMIGA_QUESTION = 21, FORMIGA_ANSWER = 22, FORMIGA_HELLO = 23, FORMIGA_BYE = 24, FORMIGA_TAKEN = 25 };
#define FORMIGA_SPIN 60e-6                                    /* s that a question is looked for before this program sleeps */

struct formiga_head {
    char magic[8];                                            /* FORMIGA and a zero */
    uint32_t version, kind, size;                             /* 1; one of those above; bytes of all */
    uint32_t sequence;                                        /* odd while it is being written */
    uint32_t worlds;
    uint32_t state;                                           /* question: 0 when the run is over; answer: 1 */
    int64_t frame;                                            /* of the question, or of the one that is answered; -1: none yet */
    double time;                                              /* s that the run has lasted */
};                                                            /* of an answer; its arrays follow */

struct formiga_question {
    struct formiga_head head;
    uint32_t robots, words;                                   /* of the group in each world; bytes of the table */
    double period;                                            /* s from one question to the next */
    char group[32];                                           /* its name */
    char table[];                                             /* the lines that say what stands where; the arrays follow */
};

#ifdef __cplusplus
#define FORMIGA_REMOTE_CHECK(what) static_assert(what, #what)
#else
#define FORMIGA_REMOTE_CHECK(what) _Static_assert(what, #what)
#endif
FORMIGA_REMOTE_CHECK(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
FORMIGA_REMOTE_CHECK(sizeof(struct formiga_head) == 48);
FORMIGA_REMOTE_CHECK(offsetof(struct formiga_head, sequence) == 20);
FORMIGA_REMOTE_CHECK(offsetof(struct formiga_head, frame) == 32);
FORMIGA_REMOTE_CHECK(offsetof(struct formiga_question, robots) == 48);
FORMIGA_REMOTE_CHECK(offsetof(struct formiga_question, period) == 56);
FORMIGA_REMOTE_CHECK(offsetof(struct formiga_question, table) == 96);

/* The robots of one group in all worlds of a run. */
struct formiga_robots {
    uint32_t worlds, count;                                   /* worlds; robots in each */
    int64_t frame;                                            /* of the question that was seen last */
    double time, period;                                      /* s */
    struct formiga_question *question;                        /* private copies: what was asked last ... */
    struct formiga_head *answer;                              /* ... and what will be answered */
    size_t asked, answered;                                   /* their bytes */
    char *table;                                              /* the lines, with a zero behind them */
    struct formiga_question *from;                            /* where they are mapped, if they are memories */
    struct formiga_head *to;
    int socket;                                               /* -1: they are */
    pid_t parent;                                             /* the process that started this one */
    int known;                                                /* whether formiga has sent something to the socket */
};

static inline double formiga_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* -- the table ------------------------------------------------------------------------------------------------------ */

/* The array of "own", "reading", "order" or "message" of that name: worlds x robots x *each numbers, of doubles if its type is f8, as
 * all orders are. NULL: there is none. Valid until the next formiga_look. */
static inline void *formiga_find(struct formiga_robots *robots, const char *what, const char *name, size_t *each) {
    if (each) *each = 0;
    for (const char *line = robots->table; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char kind[16], called[256], type[8];
        unsigned long place;
        int used = 0;
        if (sscanf(line, "%15s %255s %7s %lu%n", kind, called, type, &place, &used) < 4) continue;
        if (strcmp(kind, what) || strcmp(called, name)) continue;
        size_t numbers = 1, shape = 0;
        char *rest = (char *)line + used;
        while (*rest == ' ') {
            size_t length = strtoul(rest, &rest, 10);
            if (shape++ > 1) numbers *= length;               /* those behind worlds and robots */
        }
        if (each) *each = numbers;
        int asked = !strcmp(what, "own") || !strcmp(what, "reading");
        return (char *)(asked ? (void *)robots->question : (void *)robots->answer) + place;
    }
    return NULL;
}

/* The least and the most that a channel of the drive takes ("left"); 0: there is none of that name. */
static inline int formiga_channel(const struct formiga_robots *robots, const char *name, double *least, double *most) {
    *least = *most = 0.0;
    for (const char *line = robots->table; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char called[256];
        if (sscanf(line, "channel %255s %lf %lf", called, least, most) == 3 && !strcmp(called, name)) return 1;
    }
    return 0;
}

/* Keep a question's table; an answer begins with a drive of zeros, and NaN for all else: as before, and no message. */
static inline void formiga_take(struct formiga_robots *robots) {
    struct formiga_question *question = robots->question;
    robots->worlds = question->head.worlds;
    robots->count = question->robots;
    robots->frame = question->head.frame;
    robots->time = question->head.time;
    robots->period = question->period;
    if (question->words > robots->asked - offsetof(struct formiga_question, table)) return;
    if (robots->table && strlen(robots->table) == question->words && !memcmp(robots->table, question->table, question->words)) return;
    free(robots->table);
    robots->table = strndup(question->table, question->words);
    size_t size = sizeof(struct formiga_head);
    for (int fill = 0; fill < 2; fill++) {
        for (char *line = robots->table; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
            char kind[16], called[256], type[8];
            unsigned long place;
            int used = 0;
            if (sscanf(line, "%15s %255s %7s %lu%n", kind, called, type, &place, &used) < 4) continue;
            if (strcmp(kind, "order") && strcmp(kind, "message")) continue;
            size_t numbers = 1;
            char *rest = line + used;
            while (*rest == ' ') numbers *= strtoul(rest, &rest, 10);
            if (place + 8 * numbers > size) size = place + 8 * numbers;
            double *array = (double *)((char *)robots->answer + place);
            for (size_t k = 0; fill && k < numbers; k++) array[k] = !strcmp(kind, "order") && !strcmp(called, "drive") ? 0.0 : NAN;
        }
        if (!fill) {
            free(robots->answer);
            robots->answer = (struct formiga_head *)calloc(1, size);
            robots->answered = size;
        }
    }
    struct formiga_head head = {"FORMIGA", 1, FORMIGA_ANSWER, (uint32_t)size, 0, robots->worlds, 1, -1, 0.0};
    *robots->answer = head;
}

/* -- sending and waiting ---------------------------------------------------------------------------------------------- */
static inline void formiga_say(struct formiga_robots *robots, uint32_t kind) {
    struct formiga_head head = {"FORMIGA", 1, kind, 24, 0, 0, 0, 0, 0.0};
    (void)!send(robots->socket, &head, 24, 0);
}

/* Send the orders as they stand, as the answer to the question that was seen last. */
static inline void formiga_send(struct formiga_robots *robots) {
    robots->answer->worlds = robots->worlds;
    robots->answer->state = 1;
    robots->answer->frame = robots->frame;
    robots->answer->time = robots->time;
    if (robots->socket >= 0) {
        (void)!send(robots->socket, robots->answer, robots->answered, 0);
        return;
    }
    const size_t body = offsetof(struct formiga_head, worlds);
    uint32_t *sequence = &robots->to->sequence, number = __atomic_load_n(sequence, __ATOMIC_RELAXED) | 1u;
    __atomic_store_n(sequence, number, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy((char *)robots->to + body, (const char *)robots->answer + body, robots->answered - body);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(sequence, number + 1u, __ATOMIC_RELEASE);
#ifdef __linux__
    syscall(SYS_futex, sequence, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
#endif
}

/* Copy the question, if it is not being written; whether it is whole. */
static inline int formiga_copy(struct formiga_robots *robots) {
    const uint32_t *sequence = &robots->from->head.sequence;
    const uint32_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
    if (before & 1u) return 0;
    memcpy(robots->question, robots->from, robots->asked);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(sequence, __ATOMIC_RELAXED) == before) return 1;
    robots->question->head.sequence = before - 2;              /* torn: it was written meanwhile */
    return 0;
}

static inline int formiga_look_at_memory(struct formiga_robots *robots) {
    const int64_t last = robots->frame;
    const uint32_t *sequence = &robots->from->head.sequence;
    const double until = formiga_clock() + FORMIGA_SPIN;
    for (;;) {
        uint32_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
        if (!(before & 1u) && before != robots->question->head.sequence) {
            if (!formiga_copy(robots)) continue;
            if (!robots->question->head.state) return 0;
            if (robots->question->head.frame >= 0 && robots->question->head.frame != last) return 1;
        } else if (formiga_clock() > until) {
            struct timespec span = {0, 100000000};
            if (getppid() != robots->parent) return 0;         /* formiga was killed, perhaps, before it could end this program */
#ifdef __linux__
            syscall(SYS_futex, sequence, FUTEX_WAIT, before, &span, NULL, 0);
#else
            span.tv_nsec = 200000;
            nanosleep(&span, NULL);
#endif
        }
    }
}

static inline int formiga_look_at_socket(struct formiga_robots *robots, int first) {
    const double began = formiga_clock();
    static char data[65536];
    if (!robots->known) formiga_say(robots, FORMIGA_HELLO);
    for (;;) {
        ssize_t size = recv(robots->socket, data, sizeof data, MSG_DONTWAIT);
        const struct formiga_question *question = (const struct formiga_question *)data;
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd one = {robots->socket, POLLIN, 0};
            if (formiga_clock() - began > FORMIGA_SPIN && !poll(&one, 1, 500)) formiga_say(robots, FORMIGA_HELLO);
            continue;
        }
        if (size < 0 && errno == ECONNREFUSED) {               /* nothing listens there: not yet, or no longer */
            if (robots->known) return 0;
            usleep(50000);
            formiga_say(robots, FORMIGA_HELLO);
            continue;
        }
        if (size < 24 || memcmp(data, "FORMIGA", 8)) continue;
        if (question->head.kind == FORMIGA_TAKEN && !robots->known && formiga_clock() - began > 5.0) {
            fprintf(stderr, "another program drives these robots\n");
            return 0;
        }
        if (question->head.kind != FORMIGA_QUESTION || question->head.size != (size_t)size || size <= 96) continue;
        robots->known = 1;
        if (!first && question->head.state && question->head.frame == robots->frame) {
            if (robots->answer->frame == robots->frame && robots->frame >= 0) (void)!send(robots->socket, robots->answer, robots->answered, 0);
            continue;                                         /* the answer was lost */
        }
        if ((size_t)size != robots->asked) {
            free(robots->question);
            robots->question = (struct formiga_question *)malloc((size_t)size);
            robots->asked = (size_t)size;
        }
        memcpy(robots->question, data, (size_t)size);
        return question->head.state && (first || question->head.frame >= 0);
    }
}

/* Wait for the next question and copy it; 0 when there are no more. */
static inline int formiga_look(struct formiga_robots *robots) {
    if (!(robots->socket >= 0 ? formiga_look_at_socket(robots, 0) : formiga_look_at_memory(robots))) return 0;
    formiga_take(robots);
    return 1;
}

/* -- opening ---------------------------------------------------------------------------------------------------------- */
static inline void *formiga_map_memory(const char *path, uint32_t kind, int writable, size_t *size) {
    int file = open(path, writable ? O_RDWR : O_RDONLY);
    struct stat about;
    void *memory = MAP_FAILED;
    if (file >= 0 && !fstat(file, &about) && (size_t)about.st_size >= sizeof(struct formiga_head)) {
        *size = (size_t)about.st_size;
        memory = mmap(NULL, *size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, file, 0);
    }
    if (file >= 0) close(file);
    const struct formiga_head *head = (const struct formiga_head *)memory;
    if (memory == MAP_FAILED || memcmp(head->magic, "FORMIGA", 8) || head->version != 1 || head->kind != kind || head->size != *size) {
        fprintf(stderr, "%s: no memory of formiga of kind %u and version 1\n", path, (unsigned)kind);
        return NULL;
    }
    return memory;
}

/* Connect as the program's arguments say; 0, or 1 after a message. */
static inline int formiga_open(struct formiga_robots *robots, int argc, char **argv) {
    const char *question = NULL, *answer = NULL, *address = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--memory") && i + 2 < argc) { question = argv[i + 1]; answer = argv[i + 2]; i += 2; }
        else if (!strcmp(argv[i], "--udp") && i + 1 < argc) address = argv[++i];
    }
    memset(robots, 0, sizeof *robots);
    robots->socket = -1;
    robots->frame = -2;
    robots->parent = getppid();
    if (question) {
        size_t size;
        robots->from = (struct formiga_question *)formiga_map_memory(question, FORMIGA_QUESTION, 0, &robots->asked);
        robots->to = (struct formiga_head *)formiga_map_memory(answer, FORMIGA_ANSWER, 1, &size);
        if (!robots->from || !robots->to) return 1;
        robots->question = (struct formiga_question *)malloc(robots->asked);
        while (!formiga_copy(robots)) usleep(1000);
        formiga_take(robots);
        robots->frame = -1;                                   /* if this program is late: the answer below is to no question */
        if (robots->answered != size) return fprintf(stderr, "%s: has %zu bytes, not %zu\n", answer, size, robots->answered), 1;
        formiga_send(robots);                                 /* says: I am here */
        return 0;
    }
    char host[64] = "";
    struct sockaddr_in to;
    const char *colon = address ? strrchr(address, ':') : NULL;
    if (!colon || (size_t)(colon - address) >= sizeof host) {
        fprintf(stderr, "use: %s --memory QUESTION ANSWER, or --udp HOST:PORT\n", argc ? argv[0] : "program");
        return 1;
    }
    memcpy(host, address, (size_t)(colon - address));
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    char *rest;
    const long port = strtol(colon + 1, &rest, 10);
    to.sin_port = htons((uint16_t)port);
    robots->socket = socket(AF_INET, SOCK_DGRAM, 0);
    if (port < 1 || port > 65535 || *rest || !inet_aton(host, &to.sin_addr) || robots->socket < 0 || connect(robots->socket, (struct sockaddr *)&to, sizeof to)) {
        fprintf(stderr, "%s: is no address\n", address);
        return 1;
    }
    if (!formiga_look_at_socket(robots, 1)) return 1;
    formiga_take(robots);
    robots->frame = -2;                                       /* this question will be answered too */
    return 0;
}

/* Leave: the robots stand still. */
static inline void formiga_close(struct formiga_robots *robots) {
    if (robots->socket >= 0) {
        formiga_say(robots, FORMIGA_BYE);
        close(robots->socket);
    }
    free(robots->question);
    free(robots->answer);
    free(robots->table);
}

#endif
