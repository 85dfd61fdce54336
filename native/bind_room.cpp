// mercer._native.reused: memory of native/room.hpp as arrays of NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>

#include "bindings.hpp"
#include "room.hpp"

namespace nb = nanobind;

namespace {

// Bytes that hold anything.
nb::object reused(std::size_t bytes) {
  auto room = std::make_unique<mercer::Room>(bytes);
  auto* data = room->as<std::uint8_t>();
  nb::capsule owner(room.get(), [](void* p) noexcept { delete static_cast<mercer::Room*>(p); });
  room.release();
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(data, {bytes}, owner));
}

}  // namespace

void bind_room(nb::module_& m) { m.def("reused", &reused, nb::arg("bytes")); }
