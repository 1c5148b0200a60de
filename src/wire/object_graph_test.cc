#include "wire/object_graph.h"

#include <gtest/gtest.h>

#include "capstan/base/error.h"

namespace capstan::wire {
namespace {

TrackableObjectGraph sample() {
  TrackableObjectGraph graph;
  graph.nodes.resize(3);
  graph.nodes[0].children = {{1, "v"}, {2, "optimizer"}, {0, "self"}};
  graph.nodes[0].has_checkpoint_values = true;
  graph.nodes[1].attributes = {{"VARIABLE_VALUE", "dense/kernel", "v/.ATTRIBUTES/VARIABLE_VALUE"}};
  graph.nodes[1].registered_saver = {"Package.Saver", "v"};
  graph.nodes[2].slot_variables = {{1, "m", 5}};
  graph.nodes[2].has_checkpoint_values = false;
  return graph;
}

TEST(ObjectGraph, RoundTrips) {
  const std::string bytes = encode(sample());
  const TrackableObjectGraph graph = decode_object_graph(bytes);
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].children[1].node_id, 2);
  EXPECT_EQ(graph.nodes[0].children[1].local_name, "optimizer");
  EXPECT_EQ(graph.nodes[1].attributes[0].full_name, "dense/kernel");
  EXPECT_EQ(graph.nodes[1].registered_saver->object_name, "v");
  EXPECT_EQ(graph.nodes[2].slot_variables[0].slot_variable_node_id, 5);
  EXPECT_EQ(graph.nodes[0].has_checkpoint_values, true);
  EXPECT_EQ(graph.nodes[1].has_checkpoint_values, std::nullopt);
  EXPECT_EQ(graph.nodes[2].has_checkpoint_values, false);
  EXPECT_EQ(encode(graph), bytes);
}

TEST(ObjectGraph, DamageIsDataLossOrAGraph) {
  const std::string good = encode(sample());
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int flip = 1; flip < 256; ++flip) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      try {
        decode_object_graph(bad);
        decode_object_graph(std::string_view(bad).substr(0, i));
      } catch (const DataLoss&) {
      }
    }
  EXPECT_THROW(decode_object_graph("\x0a\x7f"), DataLoss);
}

}  // namespace
}  // namespace capstan::wire
