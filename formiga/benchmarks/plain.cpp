// The speed scenarios in plain C++: what a person would write who needs only these, and needs them fast.
//
// One thread, float64, no libraries. The same world, the same starting poses, the same sensor, controller, drive and
// contact model as formiga's planar engine, so after any number of steps both have the same poses up to rounding;
// `agrees` in the bench and tests/benchmarks/test_plain_cpp.py say so. Being special it may do what the engine may not:
// all robots are alike, the number of beams is known to the compiler, beams leave a ring along its radius, and a robot
// is read and decided in one go, with its readings on the stack.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using std::max;
using std::min;
using std::sqrt;
using std::vector;

constexpr int ROUNDS = 500, PUBLISHED_ROUNDS = 30, SHALLOW_ROUNDS = 4;  // of `resolve`
constexpr int TURNS = 6, SWEEP_ROUNDS = 40;         // of `slide` and of `sweep`
constexpr double TOUCH = 1e-8, SPARE = 1e-6, SHALLOW_SPARE = 1e-4, NOTHING = 1e-9;
constexpr double INFINITE = std::numeric_limits<double>::infinity();

struct PlainWorld {  // field by field as in cpp.py
    int64_t worlds, robots, beams, segments, discs, table_size, channel, network;
    double dt, radius, clearance, wheel_base, wheel_radius, top_speed, mount, reach;
    double gain, offset, share, noise;    // the sensor
    double threshold, behind, slow, bias, full; // the controller
    double x0, y0, x1, y1;                // the arena
    const double *position, *heading, *segment, *disc, *direction, *table;
    const double *weight;                 // of each beam; with a network, of each world: its biases and weights
    const uint64_t *key;
};

struct Point { double x, y; };
struct Shape { double ax, ay, bx, by, r; };  // a segment and a radius around it: a wall has no radius, a disc no length

// -- noise: SplitMix64's finaliser over (key, robot, step, channel) ---------------------------------------------------
constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15ull;

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
inline uint64_t fold(uint64_t key, uint64_t coordinate) { return mix(key ^ mix(coordinate + GOLDEN)) + GOLDEN; }
inline double unit(uint64_t start, uint64_t index) {
    return double(mix(start + GOLDEN * (index + 1)) >> 11) * (1.0 / 9007199254740992.0);
}

// -- geometry ---------------------------------------------------------------------------------------------------------
inline int lattice_index(double v, int count) { return v > 0.0 ? int(min(count - 1.0, v)) : 0; }

inline Point nearest(double px, double py, const Shape &s) {
    double ex = s.bx - s.ax, ey = s.by - s.ay, square = ex * ex + ey * ey;
    if (square == 0.0) return {s.ax, s.ay};
    double along = min(1.0, max(0.0, ((px - s.ax) * ex + (py - s.ay) * ey) / square));
    return {s.ax + along * ex, s.ay + along * ey};
}

inline double cross(double ax, double ay, double bx, double by) { return ax * by - ay * bx; }

inline bool passes_disc(double px, double py, double dx, double dy, double cx, double cy, double radius) {
    double gx = px - cx, gy = py - cy, b = gx * dx + gy * dy;
    if (b >= 0.0) return false;
    double t = min(1.0, -b / (dx * dx + dy * dy));
    gx += t * dx, gy += t * dy;
    return gx * gx + gy * gy < radius * radius;
}

inline double enters_disc(double px, double py, double dx, double dy, double cx, double cy, double radius) {
    double gx = px - cx, gy = py - cy;
    double a = dx * dx + dy * dy, b = gx * dx + gy * dy, c = gx * gx + gy * gy - radius * radius;
    if (c <= 0.0 || b >= 0.0 || a == 0.0) return 2.0;
    double square = b * b - a * c;
    if (square < 0.0) return 2.0;
    double t = c / (sqrt(square) - b);
    return t <= 1.0 ? t : 2.0;
}

double enters_capsule(double px, double py, double dx, double dy, const Shape &s, double radius) {
    double best = min(enters_disc(px, py, dx, dy, s.ax, s.ay, radius), enters_disc(px, py, dx, dy, s.bx, s.by, radius));
    double ex = s.bx - s.ax, ey = s.by - s.ay, size = sqrt(ex * ex + ey * ey);
    if (size == 0.0) return best;
    double ux = ex / size, uy = ey / size;
    double height = cross(ux, uy, px - s.ax, py - s.ay), closing = cross(ux, uy, dx, dy);
    if (height < 0.0) height = -height, closing = -closing;
    if (height > radius && closing < 0.0) {
        double t = (height - radius) / -closing, along = (px + t * dx - s.ax) * ux + (py + t * dy - s.ay) * uy;
        if (t <= 1.0 && 0.0 <= along && along <= size) best = min(best, t);
    }
    return best;
}

// -- what stands still: for each cell of a lattice, the things within `radius` of any of its points -------------------
struct Near {
    struct Box { double x0, y0, x1, y1; };
    double x0 = 0.0, y0 = 0.0, inverse = 1.0;
    int columns = 1, rows = 1;
    vector<int> start, items;

    Near(const vector<Shape> &shapes, double radius) {
        int count = int(shapes.size());
        vector<Box> box(count);
        Box all{INFINITE, INFINITE, -INFINITE, -INFINITE};
        for (int k = 0; k < count; k++) {
            const Shape &s = shapes[k];
            Box b{min(s.ax, s.bx) - s.r, min(s.ay, s.by) - s.r, max(s.ax, s.bx) + s.r, max(s.ay, s.by) + s.r};
            all = {min(all.x0, b.x0), min(all.y0, b.y0), max(all.x1, b.x1), max(all.y1, b.y1)};
            box[k] = b;
        }
        double size = 1.0;
        if (count) {
            x0 = all.x0 - radius, y0 = all.y0 - radius;
            double width = all.x1 + radius - x0, depth = all.y1 + radius - y0;
            size = max({radius, width / 1024, depth / 1024});
            columns = max(1, int(std::ceil(width / size))), rows = max(1, int(std::ceil(depth / size)));
        }
        inverse = 1.0 / size;
        vector<vector<int>> lists(size_t(columns) * rows);
        for (int k = 0; k < count; k++) {
            int c0 = lattice_index((box[k].x0 - radius - x0) * inverse, columns);
            int c1 = lattice_index((box[k].x1 + radius - x0) * inverse, columns);
            int r0 = lattice_index((box[k].y0 - radius - y0) * inverse, rows);
            int r1 = lattice_index((box[k].y1 + radius - y0) * inverse, rows);
            for (int r = r0; r <= r1; r++)
                for (int c = c0; c <= c1; c++) {
                    double mx = x0 + (c + 0.5) * size, my = y0 + (r + 0.5) * size;
                    double reach = shapes[k].r + radius + size * sqrt(0.5) * (1.0 + 1e-9);
                    Point q = nearest(mx, my, shapes[k]);
                    if (std::hypot(mx - q.x, my - q.y) <= reach) lists[size_t(r) * columns + c].push_back(k);
                }
        }
        start.push_back(0);
        for (auto &list : lists) {
            items.insert(items.end(), list.begin(), list.end());
            start.push_back(int(items.size()));
        }
    }
    int cell(double x, double y) const {
        return lattice_index((y - y0) * inverse, rows) * columns + lattice_index((x - x0) * inverse, columns);
    }
};

// -- who is where: one lattice per world, filled by a counting sort ---------------------------------------------------
struct Lattice { double x0, y0, size, inverse; int columns, rows; };

struct Box { int c0, c1, r0, r1; };

inline int column(const Lattice &l, double x) { return lattice_index((x - l.x0) * l.inverse, l.columns); }
inline int row(const Lattice &l, double y) { return lattice_index((y - l.y0) * l.inverse, l.rows); }
inline Box around(const Lattice &l, double x, double y, double range) {
    return {column(l, x - range), column(l, x + range), row(l, y - range), row(l, y + range)};
}

struct Cells {
    vector<int> start, order, of;
    vector<double> x, y;
    bool fresh = false;

    void fill(const Lattice &l, const vector<double> &px, const vector<double> &py) {
        if (fresh) return;
        fresh = true;
        int N = int(px.size()), count = l.columns * l.rows;
        std::fill(start.begin(), start.end(), 0);
        for (int i = 0; i < N; i++) {
            of[i] = row(l, py[i]) * l.columns + column(l, px[i]);
            start[of[i] + 1]++;
        }
        for (int c = 0; c < count; c++) start[c + 1] += start[c];
        for (int i = 0; i < N; i++) {
            int n = start[of[i]]++;
            order[n] = i, x[n] = px[i], y[n] = py[i];
        }
        for (int c = count; c > 0; c--) start[c] = start[c - 1];
        start[0] = 0;
    }
};

struct World {
    vector<double> x, y, heading, left, right, left_angle, right_angle, before_x, before_y;
    vector<uint8_t> crashed;
    vector<int64_t> crashes;
    vector<double> largest;  // reading of each robot in this step, in full readings
    double total = 0.0;      // fitness so far, added up over the steps
    Cells cells;
    uint64_t key;
    int64_t step = 0;
};

// -- the simulation ---------------------------------------------------------------------------------------------------
struct Plain {
    PlainWorld scene;
    vector<Shape> shapes;
    double rs, far;  // radius of the collision circle; no point of a beam is further from the centre
    Near seen, met;  // tables of fixed things, for sensing and for contacts
    Lattice lattice;
    vector<World> worlds;
    vector<int> active, later, found, listed;  // working memory of `resolve`
    vector<double> strayed, share;
    double spare = SPARE;  // what a pair moves apart beyond its overlap
    vector<Point> target;
    vector<uint8_t> hit, swept;

    static vector<Shape> shapes_of(const PlainWorld &s) {
        vector<Shape> out;
        const double *a = s.segment, *d = s.disc;
        for (int n = 0; n < s.segments; n++, a += 4) out.push_back({a[0], a[1], a[2], a[3], 0.0});
        for (int n = 0; n < s.discs; n++, d += 3) out.push_back({d[0], d[1], d[0], d[1], d[2]});
        return out;
    }

    explicit Plain(const PlainWorld &s)
        : scene(s), shapes(shapes_of(s)), rs(s.radius + s.clearance), far(s.mount + s.reach), seen(shapes, far),
          met(shapes, rs + max(rs, s.top_speed * s.dt)), worlds(s.worlds) {
        int N = int(s.robots);
        double width = s.x1 - s.x0, depth = s.y1 - s.y0;
        double size = max({2.0 * rs, sqrt(0.5 * width * depth / max(1, N)), width / 4096, depth / 4096});
        int columns = max(1, int(std::ceil(width / size))), rows = max(1, int(std::ceil(depth / size)));
        lattice = {s.x0, s.y0, size, 1.0 / size, columns, rows};
        for (int w = 0; w < s.worlds; w++) {
            World &world = worlds[w];
            world.key = s.key[w];
            for (auto *v : {&world.x, &world.y, &world.heading, &world.left, &world.right, &world.left_angle,
                            &world.right_angle, &world.before_x, &world.before_y, &world.cells.x, &world.cells.y})
                v->assign(N, 0.0);
            world.crashed.assign(N, 0), world.crashes.assign(N, 0), world.largest.assign(N, 0.0);
            world.cells.order.assign(N, 0), world.cells.of.assign(N, 0);
            world.cells.start.assign(size_t(lattice.columns) * lattice.rows + 1, 0);
            for (int i = 0; i < N; i++) {
                int64_t n = int64_t(w) * N + i;
                world.x[i] = s.position[2 * n], world.y[i] = s.position[2 * n + 1], world.heading[i] = s.heading[n];
            }
        }
        for (auto *v : {&active, &later, &found, &listed}) v->assign(N, 0);
        strayed.assign(N, 0.0), share.assign(N, 1.0), target.assign(N, {0.0, 0.0});
        hit.assign(N, 0), swept.assign(N, 0);
    }

    // -- sense: distances of one robot along its B beams --------------------------------------------------------------
    template <int B>
    void cast(const World &world, int i, const double *ux, const double *uy, double *out) const {
        const PlainWorld &s = scene;
        double x = world.x[i], y = world.y[i], c = 1.0, sn = 0.0;
        bool turned = false;
        auto turn = [&] {
            if (!turned) c = std::cos(world.heading[i]), sn = std::sin(world.heading[i]), turned = true;
        };
        for (int b = 0; b < B; b++) out[b] = INFINITE;
        int cell = seen.cell(x, y);
        for (int n = seen.start[cell]; n < seen.start[cell + 1]; n++) {
            const Shape &k = shapes[seen.items[n]];
            if (k.r > 0.0) {
                double dx = k.ax - x, dy = k.ay - y;
                if (dx * dx + dy * dy > (far + k.r) * (far + k.r)) continue;
                turn();
                meet_disc<B>(c * dx + sn * dy, c * dy - sn * dx, k.r, ux, uy, out);
                continue;
            }
            Point q = nearest(x, y, k);
            if ((q.x - x) * (q.x - x) + (q.y - y) * (q.y - y) > far * far) continue;
            turn();
            double gx = k.ax - x, gy = k.ay - y, ex = k.bx - k.ax, ey = k.by - k.ay;
            meet_segment<B>(c * gx + sn * gy, c * gy - sn * gx, c * ex + sn * ey, c * ey - sn * ex, ux, uy, out);
        }
        double range = far + s.radius;
        Box box = around(lattice, x, y, range);
        const Cells &cells = world.cells;
        for (int r = box.r0; r <= box.r1; r++) {
            const int *start = &cells.start[r * lattice.columns];
            for (int n = start[box.c0]; n < start[box.c1 + 1]; n++) {
                double dx = cells.x[n] - x, dy = cells.y[n] - y;
                if (dx * dx + dy * dy > range * range || cells.order[n] == i) continue;
                turn();
                meet_disc<B>(c * dx + sn * dy, c * dy - sn * dx, s.radius, ux, uy, out);
            }
        }
    }

    template <int B>
    void meet_disc(double dx, double dy, double r, const double *ux, const double *uy, double *out) const {
        for (int b = 0; b < B; b++) {  // no branches: the compiler makes vectors of it
            double across = dx * uy[b] - dy * ux[b], along = dx * ux[b] + dy * uy[b] - scene.mount;
            double square = r * r - across * across, half = sqrt(max(0.0, square));
            double t = max(0.0, along - half);
            bool meets = (square >= 0.0) & (along + half >= 0.0) & (t <= scene.reach) & (t < out[b]);
            out[b] = meets ? t : out[b];
        }
    }

    template <int B>
    void meet_segment(double ax, double ay, double ex, double ey, const double *ux, const double *uy,
                      double *out) const {
        for (int b = 0; b < B; b++) {
            double den = ux[b] * ey - uy[b] * ex, gx = ax - scene.mount * ux[b], gy = ay - scene.mount * uy[b];
            double inverse = 1.0 / den, t = (gx * ey - gy * ex) * inverse, along = (gx * uy[b] - gy * ux[b]) * inverse;
            bool inside = (t >= 0.0) & (t <= scene.reach) & (along >= 0.0) & (along <= 1.0);
            bool meets = (den != 0.0) & inside & (t < out[b]);
            out[b] = meets ? t : out[b];
        }
    }

    // -- the three ways to read and decide: distances of one robot -> its wheel speeds ----------------------------------
    template <int B>
    void turn_away(World &world, int i, const double *ux, const double *uy, const double *distance) const {
        double x = 0.0, y = 0.0;
        for (int b = 0; b < B; b++) {
            double r = distance[b] <= scene.reach ? min(1.0, scene.gain / (distance[b] + scene.offset)) : 0.0;
            x += r * ux[b], y += r * uy[b];
        }
        x /= B, y /= B;
        double size = sqrt(x * x + y * y);
        world.left[i] = world.right[i] = scene.top_speed;
        if (size >= scene.threshold && x >= scene.behind * size)
            (y > 0.0 ? world.right[i] : world.left[i]) = scene.slow;
    }

    template <int B>
    bool infrared(const World &world, int i, const double *distance, double *reading) const {  // false: sees nothing
        const PlainWorld &s = scene;
        double value[B];
        bool anything = false;
        double per_entry = double(s.table_size - 1) / s.reach;
        for (int b = 0; b < B; b++) {
            bool sees = distance[b] <= s.reach;
            anything |= sees;
            value[b] = sees ? s.table[int(distance[b] * per_entry + 0.5)] : 0.0;
        }
        if (!anything) return false;
        for (int b = 0; b < B; b++) {  // a blind sensor gets a share of its seeing neighbours' mean
            bool before = b > 0 && distance[b - 1] <= s.reach, after = b + 1 < B && distance[b + 1] <= s.reach;
            double total = (before ? value[b - 1] : 0.0) + (after ? value[b + 1] : 0.0);
            bool blind = !(distance[b] <= s.reach) && (before || after);
            reading[b] = blind ? s.share * total / (before + after) : value[b];
        }
        uint64_t start = fold(fold(fold(world.key, i), world.step), s.channel);
        for (int b = 0; b < B; b++) {
            if (reading[b] == 0.0) continue;
            reading[b] = max(0.0, reading[b] * (1.0 + s.noise * (2.0 * unit(start, 3 * b + 1) - 1.0)));
        }
        return true;
    }

    template <int B>
    void braitenberg(World &world, int i, const double *, const double *uy, const double *distance) const {
        const PlainWorld &s = scene;
        double reading[B], left = 0.0, right = 0.0;
        if (infrared<B>(world, i, distance, reading))
            for (int b = 0; b < B; b++) {
                if (reading[b] == 0.0) continue;
                if (uy[b] > 1e-9) right += s.weight[b] * reading[b];
                else if (uy[b] < -1e-9) left += s.weight[b] * reading[b];
            }
        left -= s.bias * max(left, right);
        world.left[i] = s.top_speed * min(1.0, max(-1.0, 1.0 - left));
        world.right[i] = s.top_speed * min(1.0, max(-1.0, 1.0 - right));
    }

    template <int B>
    void perceptron(World &world, int i, const double *, const double *, const double *distance) const {
        const double *l = scene.weight + (&world - worlds.data()) * 2 * (B + 1), *r = l + B + 1;
        double reading[B], left = l[0], right = r[0], largest = 0.0;
        if (infrared<B>(world, i, distance, reading))
            for (int b = 0; b < B; b++) {
                double x = min(1.0, reading[b] / scene.full);
                left += l[b + 1] * x, right += r[b + 1] * x, largest = max(largest, x);
            }
        world.left[i] = scene.top_speed * (2.0 / (1.0 + std::exp(-left)) - 1.0);
        world.right[i] = scene.top_speed * (2.0 / (1.0 + std::exp(-right)) - 1.0);
        world.largest[i] = largest;
    }

    // -- drive: exact arcs --------------------------------------------------------------------------------------------
    void drive(World &world) const {
        const PlainWorld &s = scene;
        for (int i = 0; i < int(s.robots); i++) {
            double left = world.left[i], right = world.right[i];
            double turn = (right - left) * s.dt / s.wheel_base, half = 0.5 * turn;
            double chord = 0.5 * (left + right) * s.dt * (half == 0.0 ? 1.0 : std::sin(half) / half);
            world.before_x[i] = world.x[i], world.before_y[i] = world.y[i];
            world.x[i] += chord * std::cos(world.heading[i] + half);
            world.y[i] += chord * std::sin(world.heading[i] + half);
            world.heading[i] += turn;
            world.left_angle[i] += left * s.dt / s.wheel_radius, world.right_angle[i] += right * s.dt / s.wheel_radius;
        }
        world.cells.fresh = false;
    }

    // -- sweep: nothing passes through anything in one step -----------------------------------------------------------
    struct Touch { double t, ux, uy; };             // when, as a fraction of the way, and the direction away from it
    struct Stop { double x, y; bool touched; };

    Touch first_touch(double x, double y, double dx, double dy) const {
        Touch best{2.0, 0.0, 0.0};
        double way = sqrt(dx * dx + dy * dy) + TOUCH;
        int cell = met.cell(x, y);
        for (int n = met.start[cell]; n < met.start[cell + 1]; n++) {
            const Shape &k = shapes[met.items[n]];
            double keep = k.r + scene.radius;
            Point q = nearest(x, y, k);
            double square = (x - q.x) * (x - q.x) + (y - q.y) * (y - q.y);
            if (square > (keep + way) * (keep + way)) continue;
            double t = square > (keep + TOUCH) * (keep + TOUCH) ? enters_capsule(x, y, dx, dy, k, keep) : 0.0;
            if (t >= best.t) continue;
            q = nearest(x + t * dx, y + t * dy, k);
            double gx = x + t * dx - q.x, gy = y + t * dy - q.y, distance = sqrt(gx * gx + gy * gy);
            if (distance > NOTHING) gx /= distance, gy /= distance;
            else gx = -dx / way, gy = -dy / way;  // on the middle line itself: away is where it came from
            if (dx * gx + dy * gy < -NOTHING * (std::abs(dx) + std::abs(dy))) best = {t, gx, gy};
        }
        return best;
    }

    Stop slide(double x, double y, double dx, double dy, bool slides) const {
        bool touched = false;
        double px = 0.0, py = 0.0;
        for (int turn = 0; turn < TURNS; turn++) {
            auto [t, ux, uy] = first_touch(x, y, dx, dy);
            if (t > 1.0) return {x + dx, y + dy, touched};
            x += t * dx, y += t * dy, touched = true;
            if (!slides) break;
            double into = (1.0 - t) * (dx * ux + dy * uy);
            dx = (1.0 - t) * dx - into * ux, dy = (1.0 - t) * dy - into * uy;
            if (dx * px + dy * py < 0.0) break;  // back into what it touched before: a corner
            px = ux, py = uy;
        }
        return {x, y, touched};
    }

    void sweep(World &world) {
        double longest = scene.top_speed * scene.dt;
        if (longest <= min(rs - scene.radius, scene.radius)) return;
        if (!shapes.empty())
            for (int i = 0; i < int(scene.robots); i++) {
                double x = world.before_x[i], y = world.before_y[i];
                Stop end = slide(x, y, world.x[i] - x, world.y[i] - y, true);
                world.x[i] = end.x, world.y[i] = end.y, swept[i] |= end.touched;
            }
        for (int turn = 0; turn < SWEEP_ROUNDS; turn++)
            if (!stop_pairs(world, turn >= SWEEP_ROUNDS / 2, longest)) break;
    }

    bool stop_pairs(World &world, bool dead, double longest) {  // dead: who is stopped does not move at all
        int N = int(scene.robots);
        Cells &cells = world.cells;
        cells.fill(lattice, world.x, world.y);
        double body = 2.0 * scene.radius, keep = 2.0 * rs, range = body + 2.0 * longest;
        bool clipped = false;
        for (int n = 0; n < N; n++) {
            int i = cells.order[n];
            double x = cells.x[n], y = cells.y[n];
            Box box = around(lattice, x, y, range);
            int own = row(lattice, y);
            for (int r = own; r <= box.r1; r++) {
                const int *start = &cells.start[r * lattice.columns];
                for (int m = r == own ? n + 1 : start[box.c0]; m < start[box.c1 + 1]; m++) {  // each pair once
                    double gx = cells.x[m] - x, gy = cells.y[m] - y, square = gx * gx + gy * gy;
                    if (square > range * range) continue;
                    int j = cells.order[m];
                    double px = world.before_x[j] - world.before_x[i], py = world.before_y[j] - world.before_y[i];
                    if (square < keep * keep && gx * px + gy * py > 0.0) continue;
                    double dx = gx - px, dy = gy - py;
                    if (passes_disc(px, py, dx, dy, 0.0, 0.0, body - 2.0 * TOUCH)) {
                        double t = enters_disc(px, py, dx, dy, 0.0, 0.0, keep);
                        if (t > 1.0 || dead) t = 0.0;
                        share[i] = min(share[i], t), share[j] = min(share[j], t), clipped = true;
                    }
                }
            }
        }
        if (!clipped) return false;
        for (int i = 0; i < N; i++)
            if (share[i] < 1.0) {
                double x = world.before_x[i], y = world.before_y[i];
                Stop end = slide(x, y, share[i] * (world.x[i] - x), share[i] * (world.y[i] - y), false);
                world.x[i] = end.x, world.y[i] = end.y, swept[i] = 1, share[i] = 1.0;
            }
        cells.fresh = false;
        return true;
    }

    // -- contacts -----------------------------------------------------------------------------------------------------
    struct Overlap { double depth, ux, uy; };

    Overlap overlap(double x, double y, const Shape &k) const {
        Point q = nearest(x, y, k);
        double keep = rs + k.r, dx = q.x - x, dy = q.y - y, square = dx * dx + dy * dy;
        if (square >= keep * keep) return {-1.0, 0.0, 0.0};
        double distance = sqrt(square);
        if (distance >= NOTHING) return {keep - distance, dx / distance, dy / distance};
        double ex = k.bx - k.ax, ey = k.by - k.ay, size = sqrt(ex * ex + ey * ey);
        if (size > 0.0) return {keep, -ey / size, ex / size};
        return {keep, 1.0, 0.0};
    }

    Point go(double x0, double y0, double x1, double y1) const {
        Stop at = slide(x0, y0, x1 - x0, y1 - y0, true);
        for (int push = 0; push < 8; push++) {
            int cell = met.cell(at.x, at.y);
            Overlap deepest{TOUCH, 0.0, 0.0};
            for (int n = met.start[cell]; n < met.start[cell + 1]; n++) {
                Overlap o = overlap(at.x, at.y, shapes[met.items[n]]);
                if (o.depth > deepest.depth) deepest = o;
            }
            if (deepest.depth == TOUCH) break;
            at = slide(at.x, at.y, -deepest.depth * deepest.ux, -deepest.depth * deepest.uy, true);
        }
        return {at.x, at.y};
    }

    int detect(const World &world) {
        int N = int(scene.robots), count = 0;
        const Cells &cells = world.cells;
        double range = 2.0 * rs, keep = 2.0 * rs - TOUCH;
        for (int n = 0; n < N; n++) {
            double x = cells.x[n], y = cells.y[n];
            int i = cells.order[n];
            if (!hit[i]) {
                int cell = met.cell(x, y);
                for (int m = met.start[cell]; m < met.start[cell + 1]; m++) {
                    const Shape &k = shapes[met.items[m]];
                    Point q = nearest(x, y, k);
                    double away = rs + k.r - TOUCH;
                    if ((q.x - x) * (q.x - x) + (q.y - y) * (q.y - y) < away * away) {
                        hit[i] = 1, count++;
                        break;
                    }
                }
            }
            Box box = around(lattice, x, y, range);
            int own = row(lattice, y);
            for (int r = own; r <= box.r1; r++) {
                const int *start = &cells.start[r * lattice.columns];
                for (int m = r == own ? n + 1 : start[box.c0]; m < start[box.c1 + 1]; m++) {  // each pair once
                    double dx = cells.x[m] - x, dy = cells.y[m] - y;
                    if (dx * dx + dy * dy >= keep * keep) continue;
                    int j = cells.order[m];
                    count += !hit[i] + !hit[j];
                    hit[i] = hit[j] = 1;
                }
            }
        }
        return count;
    }

    int neighbours(const World &world, int i, double drift) {
        double x = world.x[i], y = world.y[i], keep = 2.0 * rs - TOUCH;
        Box box = around(lattice, x, y, 2.0 * rs + drift);
        const Cells &cells = world.cells;
        int count = 0;
        for (int r = box.r0; r <= box.r1; r++) {
            const int *start = &cells.start[r * lattice.columns];
            for (int n = start[box.c0]; n < start[box.c1 + 1]; n++) {
                int j = cells.order[n];
                double dx = world.x[j] - x, dy = world.y[j] - y;
                if (j != i && dx * dx + dy * dy < keep * keep) found[count++] = j;
            }
        }
        return count;
    }

    Point escape(const World &world, int i, double drift) {
        double x = world.x[i], y = world.y[i], vx = 0.0, vy = 0.0, deepest = 0.0;
        int count = neighbours(world, i, drift);
        for (int n = 0; n < count; n++) {
            int j = found[n];
            double dx = world.x[j] - x, dy = world.y[j] - y;
            double distance = sqrt(dx * dx + dy * dy), depth = 2.0 * rs - distance;
            deepest = max(deepest, 0.5 * depth);
            if (distance > 0.0) vx += dx / distance * depth, vy += dy / distance * depth;
            else vx += i < j ? depth : -depth;
        }
        int cell = met.cell(x, y);
        for (int n = met.start[cell]; n < met.start[cell + 1]; n++) {
            Overlap o = overlap(x, y, shapes[met.items[n]]);
            if (o.depth > 0.0) vx += o.ux * o.depth, vy += o.uy * o.depth, deepest = max(deepest, o.depth);
        }
        double size = sqrt(vx * vx + vy * vy);
        if (size < NOTHING) return {x, y};
        double way = min(rs, 1.01 * deepest) / size;
        return go(x, y, x - way * vx, y - way * vy);
    }

    double part(World &world, int i, int j) const {
        double dx = world.x[j] - world.x[i], dy = world.y[j] - world.y[i], distance = sqrt(dx * dx + dy * dy);
        double half = i == j ? 0.0 : max(0.0, 0.5 * (2.0 * rs - distance) + spare);
        double ux = distance > 0.0 ? dx / distance : (i < j ? 1.0 : -1.0), uy = distance > 0.0 ? dy / distance : 0.0;
        double way = 0.0;
        for (int side = 0; side < (i == j ? 1 : 2); side++) {
            int k = side ? j : i;
            double x = world.x[k], y = world.y[k], sign = side ? 1.0 : -1.0;
            Point p = go(x, y, x + sign * half * ux, y + sign * half * uy);
            world.x[k] = p.x, world.y[k] = p.y;
            way = max(way, sqrt((p.x - x) * (p.x - x) + (p.y - y) * (p.y - y)));
        }
        return way;
    }

    bool touches(double x, double y) const {
        int cell = met.cell(x, y);
        for (int n = met.start[cell]; n < met.start[cell + 1]; n++)
            if (overlap(x, y, shapes[met.items[n]]).depth > TOUCH) return true;
        return false;
    }

    void resolve(World &world) {
        int N = int(scene.robots), many = 0;
        std::fill(listed.begin(), listed.end(), 0), std::fill(strayed.begin(), strayed.end(), 0.0);
        for (int i = 0; i < N; i++)
            if (hit[i]) active[many++] = i;
        double drift = 0.0, total = 0.0, earlier = INFINITY;  // how far pairs moved in this round, and 50 rounds ago
        int together = PUBLISHED_ROUNDS;
        spare = SPARE;
        for (int turn = 1; turn <= ROUNDS && many > 0; turn++) {
            if (drift > 0.5 * lattice.size) {
                world.cells.fresh = false;
                world.cells.fill(lattice, world.x, world.y);
                std::fill(strayed.begin(), strayed.end(), 0.0);
                drift = 0.0;
            }
            if (turn <= together) {
                for (int a = 0; a < many; a++) target[a] = escape(world, active[a], drift);
                for (int a = 0; a < many; a++) {
                    int i = active[a];
                    strayed[i] += std::hypot(target[a].x - world.x[i], target[a].y - world.y[i]);
                    drift = max(drift, strayed[i]);
                    world.x[i] = target[a].x, world.y[i] = target[a].y;
                }
                if (turn == 1 && drift <= 3.0 * scene.top_speed * scene.dt)  // no pack, only traffic
                    together = SHALLOW_ROUNDS, spare = SHALLOW_SPARE;
            } else {
                if (turn % 50 == 0) {
                    if (total > 0.5 * earlier) break;  // it does not settle: there is no room
                    earlier = total;
                }
                total = 0.0;
                for (int a = 0; a < many; a++) listed[active[a]] = -turn;
                for (int a = 0; a < many; a++) {
                    int i = active[a], count = neighbours(world, i, drift);
                    for (int n = 0; n < count; n++) {
                        int j = found[n];
                        double way = part(world, i, j);
                        strayed[i] += way, strayed[j] += way, total += way;
                        drift = max({drift, strayed[i], strayed[j]});
                        if (listed[j] != -turn) listed[j] = -turn, active[many++] = j;
                    }
                    if (count == 0) strayed[i] += part(world, i, i), drift = max(drift, strayed[i]);
                }
            }
            int more = 0;
            for (int a = 0; a < many; a++) {
                int i = active[a], count = neighbours(world, i, drift);
                for (int n = 0; n < count; n++) {
                    int j = found[n];
                    if (listed[j] != turn) listed[j] = turn, later[more++] = j;
                    hit[j] = 1;
                }
                if (listed[i] != turn && (count > 0 || touches(world.x[i], world.y[i])))
                    listed[i] = turn, later[more++] = i;
            }
            active.swap(later);
            many = more;
        }
        world.cells.fresh = false;
    }

    void contacts(World &world) {
        std::fill(hit.begin(), hit.end(), 0), std::fill(swept.begin(), swept.end(), 0);
        sweep(world);
        world.cells.fill(lattice, world.x, world.y);
        if (detect(world) > 0) resolve(world);
        for (int i = 0; i < int(scene.robots); i++) {
            world.crashed[i] = hit[i] | swept[i];
            world.crashes[i] += world.crashed[i];
        }
    }

    // -- fitness: speed x straightness x clearance - crash, the mean over the robots ------------------------------------
    void praise(World &world) const {
        int N = int(scene.robots);
        double together = 0.0;
        for (int i = 0; i < N; i++) {
            double left = world.left[i], right = world.right[i];
            double speed = max(0.0, 0.5 * (left + right) / scene.top_speed);
            double straightness = 1.0 - min(1.0, std::abs(right - left) / (2.0 * scene.top_speed));
            together += speed * straightness * (1.0 - world.largest[i]) - world.crashed[i];
        }
        world.total += together / N;
    }

    // -- one control period of a world --------------------------------------------------------------------------------
    template <int B, class Decide>
    void step(World &world, const double *ux, const double *uy, Decide decide) {
        double distance[B];
        world.cells.fill(lattice, world.x, world.y);
        for (int i = 0; i < int(scene.robots); i++) {
            cast<B>(world, i, ux, uy, distance);
            decide(world, i, ux, uy, distance);
        }
        drive(world);
        contacts(world);
        world.step++;
    }

    template <int B, class Each>
    void with_beams(Each each) const {
        double ux[B], uy[B];
        for (int b = 0; b < B; b++) ux[b] = scene.direction[2 * b], uy[b] = scene.direction[2 * b + 1];
        each(ux, uy);
    }

    void steps(int64_t count) {  // all worlds together, period by period
        for (; count > 0; count--) {
            if (scene.table_size)
                with_beams<15>([this](const double *ux, const double *uy) {
                    for (World &world : worlds) step<15>(world, ux, uy, [this](auto &&...a) { braitenberg<15>(a...); });
                });
            else
                with_beams<24>([this](const double *ux, const double *uy) {
                    for (World &world : worlds) step<24>(world, ux, uy, [this](auto &&...a) { turn_away<24>(a...); });
                });
        }
    }

    void roll(int64_t count) {  // world after world, each from its first period to its last, so it stays in the cache
        with_beams<15>([this, count](const double *ux, const double *uy) {
            for (World &world : worlds)
                for (int64_t n = 0; n < count; n++) {
                    step<15>(world, ux, uy, [this](auto &&...a) { perceptron<15>(a...); });
                    praise(world);
                }
        });
    }
};

}  // namespace

extern "C" {

Plain *plain_make(const PlainWorld *scene) { return new Plain(*scene); }
void plain_free(Plain *plain) { delete plain; }
void plain_steps(Plain *plain, int64_t count) { plain->scene.network ? plain->roll(count) : plain->steps(count); }

// position (worlds, robots, 2), heading (worlds, robots), crashes (worlds, robots), total (worlds)
void plain_read(const Plain *plain, double *position, double *heading, int64_t *crashes, double *total) {
    for (const World &world : plain->worlds) {
        *total++ = world.total;
        for (size_t i = 0; i < world.x.size(); i++) {
            *position++ = world.x[i], *position++ = world.y[i];
            *heading++ = world.heading[i], *crashes++ = world.crashes[i];
        }
    }
}

}
