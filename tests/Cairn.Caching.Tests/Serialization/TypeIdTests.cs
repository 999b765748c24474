using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>Types are distinguished by their names.</summary>
public sealed class TypeIdTests
{
    // A change here makes the type of all stored values a different one.
    [Fact]
    public void Number_of_a_type_never_changes()
    {
        Assert.Equal(3284674135004639961UL, TypeId.Of(typeof(string)));
        Assert.Equal(9360712172101119673UL, TypeId.Of(typeof(Dictionary<string, List<int>>)));
    }

    [Fact]
    public void Types_that_differ_in_anything_have_different_numbers()
    {
        Type[] types =
        [
            typeof(int), typeof(uint), typeof(string), typeof(object), typeof(int[]), typeof(int[,]), typeof(int[][]),
            typeof(List<int>), typeof(List<int?>), typeof(List<string>), typeof(IList<int>), typeof((int, int)), typeof((int, int, int)),
            typeof(TypeIdTests), typeof(Nested), typeof(Outer.Nested), typeof(Outer<int>.Nested), typeof(Outer<long>.Nested),
            new { Id = 1 }.GetType(), new { Id = "" }.GetType(), new { Number = 1 }.GetType(), new { Number = "" }.GetType(),
            ListOf(new { Id = 1 }), ListOf(new { Number = 1 }),
        ];

        Assert.Equal(types.Length, types.Select(TypeId.Of).Distinct().Count());
    }

    // Only compiler-generated numbers distinguish the two in this build. Another build may exchange the numbers.
    [Fact]
    public void Anonymous_types_are_distinguished_by_their_properties()
    {
        Type one = new { First = 1, Second = 2 }.GetType();

        Assert.Equal(TypeId.Of(one), TypeId.Of(new { First = 3, Second = 4 }.GetType()));
        Assert.NotEqual(Cairn.Caching.Hashing.Hash64.Of(one.ToString(), 0x5459_5045_2D49_4431), TypeId.Of(one));
    }

    [Fact]
    public void Nullable_form_of_a_type_is_the_same_type()
    {
        Assert.Equal(TypeId.Of(typeof(int)), TypeId.Of(typeof(int?)));
        Assert.Equal(TypeId.Of(typeof(DayOfWeek)), TypeId.Of(typeof(DayOfWeek?)));
    }

    private static Type ListOf<T>(T element) => new List<T> { element }.GetType();

    private sealed class Nested;

    private static class Outer
    {
        public sealed class Nested;
    }

    private static class Outer<T>
    {
        public sealed class Nested
        {
            public T? Value { get; set; }
        }
    }
}
