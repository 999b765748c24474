using System.Security.Cryptography;
using System.Text;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Tests.Resp;

/// <summary>Users of the RESP protocol. RedisComparisonTests compares the replies with those of Redis.</summary>
public class SecurityTests
{
    private const string Salt = "c2FsdHNhbHQ=";

    [Theory]
    [InlineData("sha256", "right", true)]
    [InlineData("sha256", "wrong", false)]
    [InlineData("sha256", "", false)]
    [InlineData("pbkdf2", "right", true)]
    [InlineData("pbkdf2", "wrong", false)]
    public void Password_is_right_or_wrong_every_time(string kind, string password, bool isRight)
    {
        var users = RespUsers.Parse($"me {Hash(kind, "right")} read-write", "users");

        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(isRight, users.Authenticate("me"u8, Encoding.UTF8.GetBytes(password)) is not null);
            Assert.Null(users.Authenticate("you"u8, "right"u8));
        }
    }

    [Theory]
    [InlineData(63)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(10_000)]
    public void Long_password_is_right_too(int length)
    {
        string password = new('p', length);
        var users = RespUsers.Parse($"me {Hash("pbkdf2", password)} read-write", "users");

        Assert.NotNull(users.Authenticate("me"u8, Encoding.UTF8.GetBytes(password)));
        Assert.Null(users.Authenticate("me"u8, Encoding.UTF8.GetBytes(password + "p")));
    }

    [Theory]
    [InlineData("", "'users' has no user.")]
    [InlineData("me nopass", "Line 1 of 'users' must be NAME PASSWORD read-only|read-write [PREFIX].")]
    [InlineData("# users\nme nopass write", "Line 2 of 'users' must be NAME PASSWORD read-only|read-write [PREFIX].")]
    [InlineData("me secret read-only", "The password in line 1 of 'users' must be sha256:HEX, pbkdf2:ITERATIONS:SALT:HASH, or nopass.")]
    [InlineData("me #12 read-only", "The password in line 1 of 'users' must be sha256:HEX, pbkdf2:ITERATIONS:SALT:HASH, or nopass.")]
    [InlineData("me pbkdf2:0:c2FsdHNhbHQ=:AAAA read-only", "The password in line 1 of 'users' must be sha256:HEX, pbkdf2:ITERATIONS:SALT:HASH, or nopass.")]
    [InlineData("me nopass read-only\nme nopass read-only", "Line 2 of 'users' is a second one for the user 'me'.")]
    public void File_that_is_not_as_described_is_an_error_that_says_where(string text, string message) =>
        Assert.Equal(message, Assert.Throws<ServerException>(() => RespUsers.Parse(text, "users")).Message);

    [Theory]
    [InlineData(5)]
    [InlineData(3_000)] // More than one turn counts.
    public void User_with_a_prefix_gets_the_number_of_its_own_keys_only(int count)
    {
        using var host = new RespHost();
        RespClient all = host.Connect();
        for (int i = 0; i < count; i++)
        {
            all.Run($"SET shop:{i} x", $"SET other:{i} x");
        }

        host.Server.Users = RespUsers.Parse("default nopass read-write shop:", "users");
        RespClient client = host.Connect();

        Assert.Equal($":{count}\r\n", client.Run("DBSIZE"));
        Assert.DoesNotContain("db0", client.Run("INFO keyspace"), StringComparison.Ordinal);
        Assert.Equal($":{2 * count}\r\n", all.Run("DBSIZE"));
        Assert.Contains($"db0:keys={2 * count},", all.Run("INFO keyspace"), StringComparison.Ordinal);
    }

    [Fact]
    public void Client_is_the_default_user_at_first_if_that_user_has_no_password()
    {
        using var host = new RespHost();
        host.Server.Users = RespUsers.Parse($"default nopass read-only\nwriter {Hash("sha256", "secret")} read-write", "users");
        RespClient client = host.Connect();

        Assert.Equal("$-1\r\n-NOPERM this user has no permissions to run the 'set' command\r\n", client.Run("GET a", "SET a 1"));
        Assert.Equal("+OK\r\n+OK\r\n$6\r\nwriter\r\n", client.Run("AUTH writer secret", "SET a 1", "ACL WHOAMI"));
        Assert.StartsWith("-ERR AUTH <password> called without any password configured for the default user.", client.Run("AUTH secret"), StringComparison.Ordinal);
    }

    [Fact]
    public void Long_requests_are_refused_before_authentication_and_served_after_it()
    {
        using var host = new RespHost();
        host.Server.Users = RespUsers.WithPassword("secret");

        Assert.Equal("-ERR Protocol error: unauthenticated multibulk length\r\n", host.Connect().Send("*11\r\n"));
        Assert.Equal("-ERR Protocol error: unauthenticated bulk length\r\n", host.Connect().Send("*2\r\n$3\r\nGET\r\n$16385\r\n"));

        // In one packet: requests after AUTH must not be executed as if AUTH were missing.
        Assert.Equal(
            "+OK\r\n+OK\r\n",
            host.Connect().Send("*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$20000\r\n" + new string('x', 20_000) + "\r\n"));
    }

    [Fact]
    public void User_with_a_prefix_sees_only_keys_that_begin_with_it_and_cannot_empty_the_store()
    {
        using var host = new RespHost();
        host.Server.Users = RespUsers.Parse($"default nopass read-write\nshop {Hash("sha256", "secret")} read-write shop:", "users");
        RespClient client = host.Connect();
        client.Run("SET a 1", "SET shop:b 2", "AUTH shop secret");

        Assert.Equal("*1\r\n$6\r\nshop:b\r\n", client.Run("KEYS *"));
        Assert.Equal("*2\r\n$1\r\n0\r\n*1\r\n$6\r\nshop:b\r\n", client.Run("SCAN 0 COUNT 1000000"));
        Assert.Equal("$6\r\nshop:b\r\n", client.Run("RANDOMKEY"));
        Assert.Equal("-NOPERM this user has no permissions to run the 'flushall' command\r\n", client.Run("FLUSHALL"));
        Assert.Equal("-NOPERM this user has no permissions to run the 'client|list' command\r\n", client.Run("CLIENT LIST"));
    }

    private static string Hash(string kind, string password) => kind == "sha256"
        ? "sha256:" + Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(password)))
        : $"pbkdf2:1000:{Salt}:" + Convert.ToBase64String(
            Rfc2898DeriveBytes.Pbkdf2(password, Convert.FromBase64String(Salt), 1000, HashAlgorithmName.SHA256, 32));
}
