// Objects of device code: new and delete of classes with virtual functions, of arrays, of types aligned to
// more than malloc aligns to, in given places, and from children's memory.
#include <cstdio>
#include <new>

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() { printf("~Shape\n"); }
};

struct Square : Shape {
    float side;
    __device__ explicit Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
    __device__ ~Square() override { printf("~Square %g\n", side); }
};

struct Triangle final : Shape {
    float base, height;
    __device__ Triangle(float base, float height) : base(base), height(height) {}
    __device__ float area() const override { return base * height / 2; }
};

struct alignas(64) Line {
    float values[16];
};

template <class T> class List {
    struct Node {
        T value;
        Node *next;
    };
    Node *head = nullptr;

public:
    __device__ void push(T value) { head = new Node{value, head}; }
    __device__ T sum() const
    {
        T total = 0;
        for (Node *node = head; node; node = node->next) {
            total += node->value;
        }
        return total;
    }
    __device__ ~List()
    {
        while (head) {
            Node *next = head->next;
            delete head;
            head = next;
        }
    }
};

__global__ void release(Shape *shape)
{
    printf("released %g\n", shape->area());
    delete shape;
}

__global__ void objects(int count)
{
    Shape *shapes[2] = {new Square(2), new Triangle(3, 4)};
    for (Shape *shape : shapes) {
        printf("area %g\n", shape->area());
    }
    delete shapes[0];

    int *numbers = new int[count];
    for (int i = 0; i < count; ++i) {
        numbers[i] = i;
    }
    printf("last %d\n", numbers[count - 1]);
    delete[] numbers;

    Line *lines = new Line[3];
    lines[2].values[15] = 5;
    printf("aligned %d, %g\n", (int)(reinterpret_cast<size_t>(lines) % 64), lines[2].values[15]);
    delete[] lines;
    Line *line = new Line();
    printf("aligned %d, %g\n", (int)(reinterpret_cast<size_t>(line) % 64), line->values[3]);
    delete line;

    List<double> list;
    for (int i = 1; i <= count; ++i) {
        list.push(1.0 / i);
    }
    printf("sum %.6f\n", list.sum());

    alignas(Square) char storage[sizeof(Square)];
    Shape *placed = new (storage) Square(3);
    printf("placed %g\n", placed->area());
    placed->~Shape();

    release<<<1, 1>>>(shapes[1]);
}

int main()
{
    objects<<<1, 1>>>(10);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
