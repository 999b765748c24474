namespace Cairn.ConventionTests;

/// <summary>Each statement of the threat model in SECURITY.md names the test that holds it. Those tests exist.</summary>
public sealed class ThreatModelTests
{
    [Fact]
    public void Every_test_that_the_threat_model_names_exists()
    {
        string[] named = NamedTests.Of(File.ReadAllText(Repository.At("SECURITY.md")));

        Assert.Empty(NamedTests.Missing(named));
        Assert.True(named.Length >= 25, $"only {named.Length} tests are named");
    }
}
