#include "ops/tensor_list.h"

#include <gtest/gtest.h>

#include "capstan/base/error.h"
#include "capstan/op/op.h"

namespace capstan {
namespace {

Tensor empty() {
  const ListAttributes attributes{DType::float32};
  return apply(empty_tensor_list_op, {constant(-1), constant(-1)}, &attributes);
}
Tensor pushed(const Tensor& list, float value) { return apply(tensor_list_push_back_op, {list, constant(value)}); }
std::vector<Tensor> popped(const Tensor& list, DType dtype = DType::float32) {
  const ListAttributes attributes{dtype};
  return apply_all(tensor_list_pop_back_op, {list, constant(-1)}, &attributes);
}
int length(const Tensor& list) { return apply(tensor_list_length_op, {list}).item<int>(); }

TEST(TensorList, OlderListsStayWhatTheyWere) {
  const Tensor none = empty();
  const Tensor one = pushed(none, 1);
  const Tensor two = pushed(one, 2);
  const Tensor other = pushed(one, 3);  // the longest list is another: a copy
  EXPECT_EQ(length(none), 0);
  EXPECT_EQ(length(two), 2);
  EXPECT_EQ(popped(two)[1].item<float>(), 2);
  EXPECT_EQ(popped(other)[1].item<float>(), 3);
  EXPECT_EQ(popped(one)[1].item<float>(), 1);
}

TEST(TensorList, ManyPushesAndNestedLists) {
  Tensor list = empty();
  for (int i = 0; i < 100'000; ++i) list = pushed(list, static_cast<float>(i));
  EXPECT_EQ(length(list), 100'000);
  Tensor nested = empty();
  for (int i = 0; i < 100'000; ++i) {
    const ListAttributes attributes{DType::variant};
    const Tensor outer = apply(empty_tensor_list_op, {constant(-1), constant(-1)}, &attributes);
    nested = apply(tensor_list_push_back_op, {outer, nested});
  }
  nested = Tensor();  // taken apart without deep recursion
}

TEST(TensorList, BadInput) {
  EXPECT_THROW(popped(empty()), InvalidArgument);
  EXPECT_THROW(popped(pushed(empty(), 1), DType::int32), TypeError);
  EXPECT_THROW(apply(tensor_list_push_back_op, {empty(), constant(1)}), TypeError);
  const ListAttributes attributes{DType::float32};
  EXPECT_THROW(apply(tensor_list_reserve_op, {constant(-1), constant(-2)}, &attributes), InvalidArgument);
  EXPECT_THROW(apply(tensor_list_reserve_op, {constant(-1), constant(2'000'000'000)}, &attributes), ResourceExhausted);
  EXPECT_THROW(apply(tensor_list_get_item_op, {pushed(empty(), 1), constant(1), constant(-1)}, &attributes),
               InvalidArgument);
  EXPECT_THROW(apply(tensor_list_length_op, {constant({1.f})}), Error);
}

}  // namespace
}  // namespace capstan
