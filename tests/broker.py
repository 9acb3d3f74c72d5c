"""A Kafka broker of one node for tests, in a process group of its own, on free ports of this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.servers import NoServer, free_port, jars

CLUSTER = "windrowwindrowwindroww"

PACKAGES = ("org.apache.kafka:kafka_2.13:4.2.0", "org.slf4j:slf4j-simple:1.7.36")


@dataclass
class Broker:
    """A broker with its data in `root`. It can be killed and started again: its port stays."""

    root: Path
    port: int = field(default_factory=free_port)
    controller: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        properties = self.root / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._settings().items()))
        java = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-cp", f"{jars('kafka-4.2.0', PACKAGES)}/*"]
        form = [*java, "kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", CLUSTER, "-c", str(properties)]
        subprocess.run(form, check=True, capture_output=True)
        with (self.root / "broker.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log, start_new_session=True
            )
        for _ in range(150):
            if self._answers():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.2)
        raise NoServer((self.root / "broker.log").read_text()[-2000:])

    def end(self, how: int = signal.SIGTERM) -> None:
        """End its process group, and wait until it is gone."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        admin = self._admin()  # it has to live until it has answered
        (made,) = admin.create_topics([NewTopic(topic, partitions, 1)]).values()
        made.result(20)

    def send(self, topic: str, rows: Iterable[tuple[int, Any]], key: str | None = None, at_ms: int = 0) -> None:
        """Send (partition, value): a mapping as JSON, bytes as they are, None as a tombstone."""
        producer = Producer({"bootstrap.servers": self.servers, "acks": "all", "enable.idempotence": True})
        for partition, value in rows:
            body = json.dumps(value).encode() if isinstance(value, Mapping) else value
            producer.produce(topic, body, key, partition, timestamp=at_ms)
        assert producer.flush(30) == 0

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers})

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 0.2):
                pass
            return bool(self._admin().list_topics(timeout=5).brokers)
        except Exception:
            return False

    def _settings(self) -> dict[str, Any]:
        return {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self.root / "data",
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "min.insync.replicas": 1,
            "group.initial.rebalance.delay.ms": 0,
            "auto.create.topics.enable": "false",
            "log.flush.interval.messages": 1,
            "log.retention.ms": -1,  # messages of old times stay
        }
