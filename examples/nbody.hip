// All-pairs gravity, tiles of bodies in LDS. Usage: nbody [bodies] [steps]
#include "check.h"

constexpr int block_size = 128;
constexpr float softening = 0.01f, dt = 0.01f;

__global__ void step(const float4* in, float4* out, float4* velocity, int n) {
    __shared__ float4 bodies[block_size];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = i < n ? in[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += block_size) {
        int from = base + int(threadIdx.x);
        bodies[threadIdx.x] = from < n ? in[from] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < block_size; j++) {
            float4 q = bodies[j];
            float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float force = q.w * inverse * inverse * inverse;
            ax += dx * force;
            ay += dy * force;
            az += dz * force;
        }
        __syncthreads();
    }
    if (i >= n) return;
    float4 v = velocity[i];
    v.x += ax * dt;
    v.y += ay * dt;
    v.z += az * dt;
    velocity[i] = v;
    out[i] = make_float4(p.x + v.x * dt, p.y + v.y * dt, p.z + v.z * dt, p.w);
}

int main(int argc, char** argv) {
    int n = int(check::argument(argc, argv, 1, 500)),
        steps = int(check::argument(argc, argv, 2, 2));
    check::Random random(8);
    std::vector<float4> position(n), velocity(n);
    struct Body {
        double x[3], v[3], mass;
    };
    std::vector<Body> want(n);
    for (int i = 0; i < n; i++) {
        position[i] = make_float4(float(random.range(-1, 1)), float(random.range(-1, 1)),
                                  float(random.range(-1, 1)), float(random.range(0, 1)));
        velocity[i] = make_float4(float(random.range(-1, 1)), float(random.range(-1, 1)),
                                  float(random.range(-1, 1)), 0);
        want[i] = {{position[i].x, position[i].y, position[i].z},
                   {velocity[i].x, velocity[i].y, velocity[i].z},
                   position[i].w};
    }
    check::Device<float4> a(position), b(position), v(velocity);
    for (int s = 0; s < steps; s++) {
        if (s % 2 == 0)
            step<<<check::blocks(n, block_size), block_size>>>(a, b, v, n);
        else
            step<<<check::blocks(n, block_size), block_size>>>(b, a, v, n);
    }
    check::launched();
    for (int s = 0; s < steps; s++) {
        std::vector<Body> next = want;
        for (int i = 0; i < n; i++) {
            double acceleration[3] = {};
            for (int j = 0; j < n; j++) {
                double d[3], squared = softening;
                for (int k = 0; k < 3; k++) {
                    d[k] = want[j].x[k] - want[i].x[k];
                    squared += d[k] * d[k];
                }
                double force = want[j].mass / (squared * std::sqrt(squared));
                for (int k = 0; k < 3; k++) acceleration[k] += d[k] * force;
            }
            for (int k = 0; k < 3; k++) {
                next[i].v[k] += acceleration[k] * dt;
                next[i].x[k] += next[i].v[k] * dt;
            }
        }
        want = next;
    }
    std::vector<float4> got = (steps % 2 ? b : a).to_host(), speed = v.to_host();
    std::vector<float> flat;
    std::vector<double> reference;
    for (int i = 0; i < n; i++) {
        flat.insert(flat.end(), {got[i].x, got[i].y, got[i].z, speed[i].x, speed[i].y, speed[i].z});
        reference.insert(reference.end(), want[i].x, want[i].x + 3);
        reference.insert(reference.end(), want[i].v, want[i].v + 3);
    }
    return check::result("nbody", check::near("bodies", flat, reference, 1e-4, 1e-4));
}
