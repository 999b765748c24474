namespace Cairn.ConventionTests;

public class LineDifferenceTests
{
    [Fact]
    public void Equal_texts_have_no_difference()
    {
        Assert.Empty(LineDifference.Between(["a", "b"], ["a", "b"]));
    }

    [Fact]
    public void Difference_shows_what_went_and_what_came_with_two_lines_around()
    {
        var difference = LineDifference.Between(["1", "2", "3", "old", "5", "6", "7"], ["1", "2", "3", "new", "5", "6", "7"]);

        Assert.Equal(["  2", "  3", "- old", "+ new", "  5", "  6"], difference);
    }

    [Fact]
    public void Everything_comes_where_nothing_was()
    {
        Assert.Equal(["+ a"], LineDifference.Between([], ["a"]));
    }
}
