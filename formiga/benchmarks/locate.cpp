// The plain C++ twin of formiga.locate.field and formiga.map.rays: one filter, the same arithmetic, the same order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

extern "C" {

// Log weights out (P) of particles (P, 3) for end points (B, 2) in units of cells, with floors (B), over hit (rows, columns).
void field_weigh(const double* particles, int64_t P, const double* ends, const double* floors, int64_t B, const float* hit,
                 int64_t rows, int64_t columns, double x, double y, double resolution, double* out) {
    for (int64_t p = 0; p < P; p++) {
        const double px = (particles[3 * p] - x) / resolution, py = (particles[3 * p + 1] - y) / resolution;
        const double c = std::cos(particles[3 * p + 2]), s = std::sin(particles[3 * p + 2]);
        double total = 0.0, product = 1.0;
        for (int64_t b = 0; b < B; b++) {
            const double ex = px + c * ends[2 * b] - s * ends[2 * b + 1], ey = py + s * ends[2 * b] + c * ends[2 * b + 1];
            if (ex >= 0.0 && ex < columns && ey >= 0.0 && ey < rows)
                product *= floors[b] + hit[static_cast<int64_t>(ey) * columns + static_cast<int64_t>(ex)];
            else
                product *= floors[b];
            if (b % 8 == 7) { total += std::log(product); product = 1.0; }
        }
        out[p] = total + std::log(product);
    }
}

// Distances out (P, B), in units of cells, from places (P, 2) with headings (P) along angles (B), over clear (4, rows, columns).
void cast_rays(const uint8_t* clear, int64_t rows, int64_t columns, const double* place, const double* heading, int64_t P,
               const double* angles, int64_t B, double reach, double* out) {
    const double never = std::numeric_limits<double>::infinity();
    for (int64_t p = 0; p < P; p++)
        for (int64_t b = 0; b < B; b++) {
            const double x = place[2 * p], y = place[2 * p + 1];
            const double ux = std::cos(heading[p] + angles[b]), uy = std::sin(heading[p] + angles[b]);
            double& away = out[p * B + b];
            int64_t column = static_cast<int64_t>(std::floor(x)), row = static_cast<int64_t>(std::floor(y));
            away = never;
            if (column < 0 || column >= columns || row < 0 || row >= rows) continue;
            const double per_x = ux != 0.0 ? 1.0 / ux : never, per_y = uy != 0.0 ? 1.0 / uy : never;
            double entered = 0.0;
            bool inside = true;
            const bool right = ux > 0.0, up = uy > 0.0;
            const uint8_t* towards = clear + ((right ? 0 : 1) + (up ? 0 : 2)) * rows * columns;
            while (inside && towards[row * columns + column] > 0) {
                const int64_t k = towards[row * columns + column];
                const int64_t side_x = right ? column + k : column - k + 1, side_y = up ? row + k : row - k + 1;
                const double leaves_x = ux != 0.0 ? (side_x - x) * per_x : never;
                const double leaves_y = uy != 0.0 ? (side_y - y) * per_y : never;
                if (leaves_x < leaves_y) {
                    entered = leaves_x;
                    column = right ? side_x : side_x - 1;
                    const int64_t beside = static_cast<int64_t>(std::floor(y + entered * uy));
                    row = up ? std::min(side_y - 1, std::max(row, beside)) : std::min(row, std::max(side_y, beside));
                } else {
                    entered = leaves_y;
                    row = up ? side_y : side_y - 1;
                    const int64_t beside = static_cast<int64_t>(std::floor(x + entered * ux));
                    column = right ? std::min(side_x - 1, std::max(column, beside)) : std::min(column, std::max(side_x, beside));
                }
                inside = entered <= reach && column >= 0 && column < columns && row >= 0 && row < rows;
            }
            if (inside) away = entered;
        }
}

}
