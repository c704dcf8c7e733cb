// Robots that talk, in plain C++: situated messages with a line of sight, and a controller that spreads out by them.
//
// The drive and the contacts are those of plain.cpp, and what is written there holds here, too: the same world, the same starting
// poses, the same rules, so both have the same poses and the same messages up to rounding. Being special it may do what the
// engine may not: all robots are alike and few are in range, all send in every period, nothing is lost or noisy, no antenna is
// higher than any body, and a robot hears and decides in one go.

#include "plain.cpp"

namespace {

constexpr int MOST = 8;    // messages that a robot hears at once
constexpr int VECTOR = 8;  // loops run over multiples of this many numbers, so that none is left to be done singly

inline int whole(int count) { return (count + VECTOR - 1) / VECTOR * VECTOR; }

struct Message { double range, bearing, number; int sender; };

struct Talk : Plain {
    double reach, gain;
    vector<vector<Message>> inbox;           // of each world: MOST rows of each robot
    vector<vector<int64_t>> heard, dropped;  // of each world: counts of each robot, since the start
    vector<vector<double>> said, saying;     // of each world: what each robot sent in the last period, and sends in this one
    vector<double> gx, gy, square, past;     // discs around a robot, robots first; past: squared distance less square of radius
    vector<double> far;                      // of those within range: squared distances
    vector<int> robot, wall, sends;          // sends: those within range, as places among the discs

    Talk(const PlainWorld &s, double gain) : Plain(s), reach(s.reach), gain(gain) {
        size_t N = s.robots, all = N + shapes.size() + VECTOR;
        inbox.assign(s.worlds, vector<Message>(N * MOST, Message{0.0, 0.0, 0.0, -1}));
        heard.assign(s.worlds, vector<int64_t>(N, 0)), dropped = heard;
        said.assign(s.worlds, vector<double>(N, NAN)), saying = said;
        for (auto *v : {&gx, &gy, &square, &past, &far}) v->assign(all, 0.0);
        for (auto *v : {&robot, &wall, &sends}) v->assign(all, 0);
    }

    // -- which robots are within range, and what may stand between: both as discs -------------------------------------
    int gather(const World &world, int i, int &count) {
        double x = world.x[i], y = world.y[i], wide = reach + scene.radius;
        const Cells &cells = world.cells;
        Box box = around(lattice, x, y, wide);
        int discs = 0;
        count = 0;
        for (int r = box.r0; r <= box.r1; r++) {
            const int *start = &cells.start[r * lattice.columns];
            for (int n = start[box.c0]; n < start[box.c1 + 1]; n++) {  // no branches: half of them would be missed
                double dx = cells.x[n] - x, dy = cells.y[n] - y, distance = dx * dx + dy * dy;
                int j = cells.order[n];
                robot[discs] = j, gx[discs] = dx, gy[discs] = dy, square[discs] = scene.radius * scene.radius;
                sends[count] = discs, far[count] = distance;
                count += (distance <= reach * reach) & (j != i), discs += (distance <= wide * wide) & (j != i);
            }
        }
        return discs;
    }

    int list_fixed(double x, double y, int discs, int &walls) {
        int cell = seen.cell(x, y);
        walls = 0;
        for (int n = seen.start[cell]; n < seen.start[cell + 1]; n++) {
            const Shape &k = shapes[seen.items[n]];
            if (k.r > 0.0) {
                double dx = k.ax - x, dy = k.ay - y;
                gx[discs] = dx, gy[discs] = dy, square[discs] = k.r * k.r;
                discs += dx * dx + dy * dy <= (reach + k.r) * (reach + k.r);
            } else {
                Point q = nearest(x, y, k);
                wall[walls] = seen.items[n];
                walls += (q.x - x) * (q.x - x) + (q.y - y) * (q.y - y) <= reach * reach;
            }
        }
        return discs;
    }

    bool hidden(double x, double y, int target, int full, int walls) const {
        double dx = gx[target], dy = gy[target], size = dx * dx + dy * dy;
        int64_t hits = 0;
        for (int64_t m = 0; m < full; m++) {  // no branches: the compiler makes vectors of it
            double along = gx[m] * dx + gy[m] * dy, across = gx[m] * dy - gy[m] * dx;
            hits += (m != target) & (((across * across <= square[m] * size) & (along > 0.0) & (along < size)) | (past[m] <= 0.0)
                                     | (past[m] + size <= 2.0 * along));
        }
        for (int m = 0; m < walls && !hits; m++) {
            const Shape &k = shapes[wall[m]];
            double ex = k.bx - k.ax, ey = k.by - k.ay, den = cross(dx, dy, ex, ey);
            if (den == 0.0) continue;
            double share = cross(k.ax - x, k.ay - y, ex, ey) / den, along = cross(k.ax - x, k.ay - y, dx, dy) / den;
            hits += 0.0 <= along && along <= 1.0 && 0.0 <= share && share <= 1.0;
        }
        return hits > 0;
    }

    // -- one robot hears: nearest first -------------------------------------------------------------------------------
    int hear(const World &world, int w, int i) {
        int count, walls, found = 0, discs = gather(world, i, count);
        double x = world.x[i], y = world.y[i];
        discs = list_fixed(x, y, discs, walls);
        int full = whole(discs);
        for (int m = discs; m < full; m++) gx[m] = gy[m] = 0.0, square[m] = -1.0;  // stands nowhere
        for (int m = 0; m < full; m++) past[m] = gx[m] * gx[m] + gy[m] * gy[m] - square[m];
        for (int n = 0; n < count; n++) {
            sends[found] = sends[n], far[found] = far[n];
            found += !hidden(x, y, sends[n], full, walls);
        }
        Message *message = &inbox[w][size_t(i) * MOST];
        full = whole(found);
        for (int n = found; n < full; n++) far[n] = INFINITE;
        for (int n = 0; n < found; n++) {
            int at = sends[n], j = robot[at];
            int64_t rank = 0;
            for (int m = 0; m < full; m++) rank += far[m] < far[n];  // no two are equally far: that has no probability
            if (rank >= MOST) continue;
            double bearing = std::atan2(gy[at], gx[at]) - world.heading[i];
            bearing -= 2.0 * M_PI * std::floor(bearing / (2.0 * M_PI) + 0.5);
            message[rank] = {sqrt(far[n]), bearing, said[w][j], j};
        }
        int taken = min(found, MOST);
        for (int n = taken; n < MOST; n++) message[n] = {0.0, 0.0, 0.0, -1};
        heard[w][i] += taken, dropped[w][i] += found - taken;
        return taken;
    }

    // -- and drives away from those that it heard ---------------------------------------------------------------------
    void spread(World &world, int w, int i, int taken) {
        const Message *message = &inbox[w][size_t(i) * MOST];
        double x = 0.0, y = 0.0;
        for (int n = 0; n < taken; n++) {
            double share = 1.0 - message[n].range / reach;
            x -= share * std::cos(message[n].bearing), y -= share * std::sin(message[n].bearing);
        }
        world.left[i] = scene.top_speed * min(1.0, max(-1.0, gain * (x - y)));
        world.right[i] = scene.top_speed * min(1.0, max(-1.0, gain * (x + y)));
        saying[w][i] = taken;
    }

    void steps(int64_t count) {
        for (; count > 0; count--)
            for (World &world : worlds) {
                int w = int(&world - worlds.data());
                world.cells.fill(lattice, world.x, world.y);
                for (int i = 0; i < int(scene.robots); i++) spread(world, w, i, world.step > 0 ? hear(world, w, i) : 0);
                said[w].swap(saying[w]);
                drive(world);
                contacts(world);
                world.step++;
            }
    }
};

}  // namespace

extern "C" {

Talk *talk_make(const PlainWorld *scene, double gain) { return new Talk(*scene, gain); }
void talk_free(Talk *talk) { delete talk; }
void talk_steps(Talk *talk, int64_t count) { talk->steps(count); }
void talk_read(const Talk *talk, double *position, double *heading, int64_t *crashes, double *total) {
    plain_read(talk, position, heading, crashes, total);
}

// heard and dropped (worlds, robots) since the start; of the last period, messages (worlds, robots, MOST, 3) as range, bearing,
// number, and their senders (worlds, robots, MOST), -1 for none
void talk_heard(const Talk *talk, int64_t *heard, int64_t *dropped, double *message, int64_t *sender) {
    for (size_t w = 0; w < talk->worlds.size(); w++) {
        for (int64_t each : talk->heard[w]) *heard++ = each;
        for (int64_t each : talk->dropped[w]) *dropped++ = each;
        for (const Message &each : talk->inbox[w])
            *message++ = each.range, *message++ = each.bearing, *message++ = each.number, *sender++ = each.sender;
    }
}

}
