// Pages from the operating system: the only part of the core that knows which one it is.
#pragma once

#include <cstddef>

namespace onetree {

// Untouched pages take no memory; huge pages where the system has them. nullptr if it refuses.
void* map_pages(std::size_t bytes);
void unmap_pages(void* memory, std::size_t bytes);

}  // namespace onetree
